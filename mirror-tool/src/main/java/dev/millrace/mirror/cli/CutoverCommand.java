package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.cutover.Cutover;
import dev.millrace.mirror.cutover.CutoverReport;
import dev.millrace.mirror.cutover.VerifyExtent;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code mirror cutover}: moves from the source to the target, step by step. */
@Command(
        name = "cutover",
        description = {
            "Moves from the source to the target, while a mirror with the same options runs: checks the mirror, waits until"
                    + " nobody writes at the source and all is copied, moves the consumer groups of --groups, and compares"
                    + " both clusters.",
            "Without --yes, only says what each step finds now. It stops nobody: stop the producers yourself, and the"
                    + " consumers when all is copied. It may be ended and started again at any time."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all steps are done, or without --yes: what they find is printed",
            "1:a step has stopped, for the reason that is printed",
            "2:the command line or a file it names is wrong"
        })
final class CutoverCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Option(names = "--yes", order = 0, description = "Do the steps, and do not only say what they find now.")
    private boolean isToBeDone;

    @Option(
            names = "--quiet",
            paramLabel = "DURATION",
            converter = MirrorOptions.DurationParser.class,
            defaultValue = "10s",
            order = 0,
            description = "For how long no partition of the source may grow before the cut. Default: ${DEFAULT-VALUE}.")
    private Duration quiet;

    @Option(
            names = "--give-up-after",
            paramLabel = "DURATION",
            converter = MirrorOptions.DurationParser.class,
            defaultValue = "forever",
            order = 0,
            description = "How long to wait for writers and the mirror, and then for the members of groups; after that,"
                    + " all stays as it was. Default: ${DEFAULT-VALUE}.")
    private Duration giveUpAfter;

    @Option(
            names = "--again",
            paramLabel = "N",
            defaultValue = "0",
            order = 0,
            description =
                    "How many records a group may see again in a partition, at most, where the mirror does not know"
                            + " exactly where it goes on. Default: ${DEFAULT-VALUE}.")
    private long again;

    @Option(
            names = "--verify",
            paramLabel = "sample|whole|none",
            converter = ExtentParser.class,
            defaultValue = "sample",
            order = 0,
            description = "How much is compared: the last 1,000 records of each partition, all, or nothing."
                    + " Default: ${DEFAULT-VALUE}.")
    private VerifyExtent verify;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Mixin
    private StatusOption statusOption;

    @Option(names = "--verbose", order = 21, description = "Log all that the Kafka clients do, and stack traces.")
    private boolean verbose;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    static final class ExtentParser implements ITypeConverter<VerifyExtent> {
        @Override
        public VerifyExtent convert(String text) {
            return OptionValues.parse(VerifyExtent.values(), text);
        }
    }

    @Override
    public Integer call() {
        Logs.configure(verbose);
        MirrorConfig config = mirrorOptions.toCheckedConfig();
        PrintWriter out = spec.commandLine().getOut();
        new Cutover(
                        config,
                        new Cutover.Options(isToBeDone, quiet, giveUpAfter, again, verify),
                        new Printer(out, System.err, statusOption.interval()))
                .run();
        if (!isToBeDone) {
            out.printf("%nnothing was changed: give --yes to do it%n");
        }
        out.flush();
        return 0;
    }

    /** Prints findings at once; of what a step waits for, a line each interval. */
    private static final class Printer implements CutoverReport {
        private final PrintWriter out;
        private final PrintStream progress;
        private final Duration interval;
        private long toldNanos;

        Printer(PrintWriter out, PrintStream progress, Duration interval) {
            this.out = out;
            this.progress = progress;
            this.interval = interval;
            this.toldNanos = System.nanoTime() - interval.toNanos();
        }

        @Override
        public void onStep(int number, String name) {
            clear();
            out.printf("%d  %s%n", number, name);
            out.flush();
        }

        @Override
        public void tell(String finding) {
            clear();
            out.printf("   %s%n", finding);
            out.flush();
        }

        @Override
        public void onProgress(String what) {
            if (interval.isZero() || System.nanoTime() - toldNanos < interval.toNanos()) {
                return;
            }
            toldNanos = System.nanoTime();
            if (Terminal.isTerminal()) {
                Terminal.rewrite(progress, "   " + what);
            } else {
                progress.printf("   %s%n", what);
            }
        }

        private void clear() {
            if (Terminal.isTerminal()) {
                Terminal.rewrite(progress, "");
            }
        }
    }
}
