package dev.millrace.mirror.cli;

import picocli.CommandLine.Command;

/** {@code mirror pause}: makes a running mirror stop reading topics. */
@Command(
        name = "pause",
        description = {
            "Has a running mirror, started with --http, read nothing more of topics until 'mirror resume'.",
            "What is read already is still written and committed. A mirror that is started again copies all topics."
        })
final class PauseCommand extends ChangeCommand {}
