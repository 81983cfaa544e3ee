package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.cutover.Cutover;
import dev.millrace.mirror.cutover.CutoverOptions;
import dev.millrace.mirror.cutover.CutoverReport;
import dev.millrace.mirror.cutover.CutoverResult;
import dev.millrace.mirror.cutover.VerifyExtent;
import dev.millrace.mirror.text.MirrorException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
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
            "Without --yes, it asks before it changes something; if it cannot ask, because no terminal is there, it only"
                    + " says what each step finds now. It stops no consumers, and producers only with --fence acls. It may"
                    + " be ended and started again at any time."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all steps are done, or what they find is printed",
            "1:a step has stopped, for the reason that is printed",
            "2:the command line or a file it names is wrong"
        })
final class CutoverCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Option(names = "--yes", order = 0, description = "Do all steps without asking.")
    private boolean isAgreed;

    @Option(names = "--dry-run", order = 0, description = "Only say what each step finds now.")
    private boolean isDryRun;

    @Option(
            names = "--undo",
            order = 0,
            description =
                    "Remove the ACLs with which an earlier call with --fence acls has denied writing, and do nothing"
                            + " else: producers can go on at the source, and the mirror runs on.")
    private boolean isUndo;

    @Option(
            names = "--fence",
            paramLabel = "acls|none",
            converter = FenceParser.class,
            defaultValue = "none",
            order = 0,
            description =
                    "How producers are kept away from the source. acls: whoever an ACL allows to write to the topics"
                            + " is denied it by another one. none: stop them yourself. Default: ${DEFAULT-VALUE}.")
    private FenceKind fence;

    @Option(
            names = "--fence-except",
            paramLabel = "PRINCIPAL",
            order = 0,
            description = "A principal that --fence acls leaves alone, such as User:mirror, that of the mirror back."
                    + " May be given several times.")
    private List<String> exceptions = List.of();

    @Option(
            names = "--abort-transactions",
            order = 0,
            description = "Abort transactions of the source that are still open after --quiet, instead of waiting for"
                    + " them.")
    private boolean areTransactionsAborted;

    @Option(
            names = "--keep-way-back",
            order = 0,
            description =
                    "Turn the direction at the end, when you have stopped the mirror: 'mirror run --back' then begins"
                            + " exactly at the cut, and 'mirror run' refuses to start.")
    private boolean isWayBackKept;

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
            description = "How long to wait for writers and the mirror, then for the members of groups, and with"
                    + " --keep-way-back for the end of the mirror. Default: ${DEFAULT-VALUE}.")
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

    @Option(
            names = "--json",
            order = 19,
            description =
                    "Print a JSON object when it is done: the offsets of the cut, groups, and the time of each step."
                            + " What the steps find goes to standard error.")
    private boolean isJson;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Mixin
    private StatusOption statusOption;

    @Option(names = "--verbose", order = 21, description = "Log all that the Kafka clients do, and stack traces.")
    private boolean verbose;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    /** How producers are kept away from the source. */
    private enum FenceKind {
        ACLS,
        NONE;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static final class FenceParser implements ITypeConverter<FenceKind> {
        @Override
        public FenceKind convert(String text) {
            return OptionValues.parse(FenceKind.values(), text);
        }
    }

    static final class ExtentParser implements ITypeConverter<VerifyExtent> {
        @Override
        public VerifyExtent convert(String text) {
            return OptionValues.parse(VerifyExtent.values(), text);
        }
    }

    @Override
    public Integer call() {
        Logs.configure(verbose);
        if (fence == FenceKind.NONE && !exceptions.isEmpty()) {
            throw MirrorException.usage("--fence-except " + exceptions.get(0)
                    + ": it needs --fence acls, which leaves that principal alone");
        }
        exceptions.forEach(CutoverCommand::requirePrincipal);
        if (isUndo && isDryRun) {
            throw MirrorException.usage(
                    "--undo and --dry-run exclude each other; 'mirror cutover --dry-run' shows who is denied writing");
        }
        if (isUndo && !isAgreed && !Terminal.canAsk()) {
            throw MirrorException.usage("--undo: it lets writers go on at the source; agree with --yes");
        }
        MirrorConfig config = mirrorOptions.toCheckedConfig();
        boolean isToBeDone = !isDryRun && (isAgreed || Terminal.canAsk());
        CutoverOptions options = new CutoverOptions(
                isToBeDone,
                fence == FenceKind.ACLS,
                Set.copyOf(exceptions),
                areTransactionsAborted,
                quiet,
                giveUpAfter,
                again,
                verify,
                isWayBackKept);
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter text = isJson ? spec.commandLine().getErr() : out;
        Cutover cutover = new Cutover(
                config,
                mirrorOptions.toOppositeConfig(),
                options,
                new Printer(text, System.err, statusOption.interval(), isAgreed));
        if (isUndo) {
            cutover.undo();
        } else {
            CutoverResult result = cutover.run();
            if (!isToBeDone) {
                text.printf("%nnothing was changed: %s to do it%n", isDryRun ? "leave out --dry-run" : "give --yes");
            }
            if (isJson) {
                out.println(CutoverJson.format(result));
            }
        }
        text.flush();
        out.flush();
        return 0;
    }

    private static void requirePrincipal(String text) {
        if (!text.matches("\\w+:.+")) {
            throw MirrorException.usage(
                    "--fence-except '" + text + "': the name of a principal begins with its type, such as User:mirror");
        }
    }

    /** Prints findings at once; of what a step waits for, a line each interval. */
    private static final class Printer implements CutoverReport {
        private final PrintWriter out;
        private final PrintStream progress;
        private final Duration interval;
        private final boolean isAgreed;
        private long toldNanos;

        Printer(PrintWriter out, PrintStream progress, Duration interval, boolean isAgreed) {
            this.isAgreed = isAgreed;
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

        @Override
        public boolean mayChange(String change) {
            return isAgreed || Terminal.ask("   " + change + "? [y/N] ");
        }

        private void clear() {
            if (Terminal.isTerminal()) {
                Terminal.rewrite(progress, "");
            }
        }
    }
}
