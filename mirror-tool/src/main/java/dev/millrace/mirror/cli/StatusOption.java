package dev.millrace.mirror.cli;

import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The option {@code --status} of the commands that show their progress. */
final class StatusOption {
    private static final Duration TERMINAL_STATUS = Duration.ofSeconds(1);
    private static final Duration LOG_STATUS = Duration.ofSeconds(30);

    @Option(
            names = "--status",
            paramLabel = "SECONDS",
            order = 20,
            description = "Time between two lines that show the progress; on a terminal the line is rewritten."
                    + " 0: no such lines. Default: 1 on a terminal, else 30.")
    private Integer status;

    /**
     * Returns the time between two lines; zero for none.
     *
     * @throws MirrorException when the given one is negative
     */
    Duration interval() {
        if (status == null) {
            return Terminal.isTerminal() ? TERMINAL_STATUS : LOG_STATUS;
        }
        if (status < 0) {
            throw MirrorException.usage(
                    "--status " + status + ": a number of seconds is expected, or 0 for no status lines");
        }
        return Duration.ofSeconds(status);
    }
}
