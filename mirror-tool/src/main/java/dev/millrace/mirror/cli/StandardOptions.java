package dev.millrace.mirror.cli;

import picocli.CommandLine.Command;

/** The options of every command, {@code --help} and {@code --version}, and the layout of its help. */
@Command(
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        usageHelpAutoWidth = true)
public final class StandardOptions {}
