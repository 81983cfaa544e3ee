package dev.millrace.weather;

import dev.millrace.command.CommandLines;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code testkit/weather}. */
@Command(
        name = "weather",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Runs one climate after the other: two real clusters, a slow link, and one to three processes of the mirror between"
                    + " them, while mirrors and brokers are killed, stopped and frozen, and connections break.",
            "Then compares both sides record by record. The last line has the numbers of all climates."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:everything is as the mirror promises",
            "1:it is not, or a cluster did not recover from a fault",
            "2:the command line is wrong"
        })
public final class WeatherCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "10",
            description = "New climates begin for so long. Default: ${DEFAULT-VALUE}. One takes one to three minutes.")
    private double minutes;

    @Option(names = "--climates", paramLabel = "N", description = "Runs so many climates, however long that takes.")
    private Integer climates;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description =
                    "Chooses everything of the first climate; the next one has the next seed. With --climates 1 a climate"
                            + " is run again alone. Default: a random one, which is printed. Times differ from run to run.")
    private Long seed;

    @Option(names = "--resume", paramLabel = "R", description = "Of each mirror, instead of what the seed chooses.")
    private String resume;

    @Option(names = "--mode", paramLabel = "M", description = "Of each mirror, instead of what the seed chooses.")
    private String mode;

    @Option(
            names = "--twin",
            paramLabel = "T",
            description =
                    "A mirror with this mistake in place of the real one, until it is found: ${COMPLETION-CANDIDATES}")
    private MirrorTwin twin;

    @Option(names = "--mirror", hidden = true, required = true, description = "The command of the mirror.")
    private Path mirror;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(new WeatherCommand(), Map.of(), e -> null);
    }

    @Override
    public Integer call() throws Exception {
        Duration time = CommandLines.minutes(spec, minutes);
        CommandLines.check(spec, climates == null || climates > 0, "--climates is " + climates + ", must be 1 or more");
        checkOneOf("--resume", resume, MirrorKind.RESUMES);
        checkOneOf("--mode", mode, MirrorKind.MODES);
        MirrorKind.Wanted wanted = twin == null ? MirrorKind.Wanted.copies(mode, resume) : twin.wanted();
        CommandLines.check(
                spec, !wanted.isContradiction(), "--mode " + mode + " is not possible with --resume " + resume);
        return run(CommandLines.seed(seed), wanted, time) ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private void checkOneOf(String option, String value, List<String> possible) {
        if (value != null) {
            CommandLines.checkOneOf(spec, option, value, possible.toArray(String[]::new));
        }
    }

    private boolean run(long first, MirrorKind.Wanted wanted, Duration time) throws InterruptedException {
        long start = System.nanoTime();
        Judgement all = new Judgement();
        int count = 0;
        int unjudged = 0;
        while (!isTwinFound(all)
                && (climates != null ? count < climates : count == 0 || System.nanoTime() - start < time.toNanos())) {
            long next = first + count;
            count++;
            try {
                Judgement one =
                        new WeatherRun(Climate.draw(next, wanted), mirror, Optional.ofNullable(twin), System.out).run();
                print(1, one, next);
                all.add(one);
            } catch (IllegalStateException e) {
                unjudged++;
                System.out.println("Seed " + next + " is not judged, because of the clusters: " + e.getMessage());
            }
        }
        if (unjudged > 0) {
            System.out.println("Not judged: " + unjudged);
        }
        print(count - unjudged, all, first);
        return all.isClean() && unjudged == 0;
    }

    private boolean isTwinFound(Judgement all) {
        return twin != null && all.broken(twin.rule()) > 0;
    }

    private static void print(int seeds, Judgement judgement, long seed) {
        System.out.println("seeds " + seeds + " " + judgement + " seed " + seed);
    }
}
