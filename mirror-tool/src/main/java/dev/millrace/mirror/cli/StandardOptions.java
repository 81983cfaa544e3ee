package dev.millrace.mirror.cli;

import picocli.CommandLine.Command;

/** What all commands have in common: {@code --help}, {@code --version}, and how their help is laid out. */
@Command(
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        usageHelpAutoWidth = true)
public final class StandardOptions {}
