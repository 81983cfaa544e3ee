package dev.millrace.mirror.cli;

import picocli.CommandLine.Command;

/** {@code mirror resume}: makes a running mirror resume paused topics. */
@Command(
        name = "resume",
        description = {
            "Has a running mirror, started with --http, go on with topics that are paused, where it has stopped."
        })
final class ResumeCommand extends ChangeCommand {}
