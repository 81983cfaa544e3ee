package dev.millrace.profile;

import dev.millrace.command.CommandLines;
import dev.millrace.command.ThreadsOption;
import dev.millrace.race.RaceException;
import dev.millrace.race.RacerJvm;
import dev.millrace.race.RacerRunner;
import dev.millrace.race.RacersOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code profiles/profile}: its options, and the files that it writes. */
@Command(
        name = "profile",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Shows where producers spend CPU, wait for locks, allocate and spend time while they send as in jmh/race, with"
                    + " async-profiler, which runs only in the measured part.",
            "Writes into a folder: table.md, which it also prints; a flame graph MODE-PRODUCER.html for each run; and a"
                    + " picture MODE.svg of the last two producers at one scale."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all runs succeeded",
            "1:a producer failed, or async-profiler does not run here",
            "2:the command line is wrong"
        })
public final class ProfileCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private RacersOptions racers;

    @Mixin
    private ThreadsOption threads;

    @Option(
            names = "--modes",
            split = ",",
            paramLabel = "MODE",
            defaultValue = "cpu,lock,alloc,wall",
            description = "What to count, one run for each. Default: ${DEFAULT-VALUE}.")
    private List<ProfileMode> modes;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            defaultValue = "${sys:millrace.profile.out}",
            description = "Folder to write to. Default: ${DEFAULT-VALUE}.")
    private Path out;

    @Parameters(paramLabel = "-- RACE-OPTION", description = "Options of jmh/race, such as --compression zstd.")
    private List<String> moreOptions = new ArrayList<>();

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return CommandLines.of(
                        new ProfileCommand(),
                        Map.of("--producers", "kafka-4.3.1,kafka-4.4.0,millrace"),
                        e -> e instanceof RaceException ? e.getMessage() : e.toString())
                .setCaseInsensitiveEnumValuesAllowed(true);
    }

    @Override
    public Integer call() throws IOException {
        List<String> raceOptions = new ArrayList<>(List.of(
                "--rounds=1",
                "--producers=" + String.join(",", racers.producers()),
                "--threads=" + threads.single(),
                "--records=" + racers.records()));
        raceOptions.addAll(moreOptions);
        try (RacerRunner runner = RacerRunner.start(raceOptions, warning -> System.err.print("\n  " + warning))) {
            profile(runner);
        } catch (ParameterException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        return ExitCode.OK;
    }

    private void profile(RacerRunner runner) throws IOException {
        Files.createDirectories(out);
        ProducerProfiler run = new ProducerProfiler(runner, threads.single(), out, ProducerProfiler.bestEngine());
        StringBuilder table = new StringBuilder(head(runner));
        for (ProfileMode mode : modes) {
            List<Profile> profiles = new ArrayList<>();
            for (RacerJvm racer : runner.racers()) {
                System.err.print(mode.lowerCaseName() + " of " + racer.name() + ": ");
                Profile profile = run.profile(racer, mode);
                System.err.printf(Locale.ROOT, "%,d samples%n", profile.samples());
                profiles.add(profile);
            }
            table.append('\n').append(ProfileTable.of(mode, profiles));
            List<Profile> pair = profiles.subList(Math.max(0, profiles.size() - 2), profiles.size());
            Files.writeString(out.resolve(mode.lowerCaseName() + ".svg"), FlameGraphSvg.of(pair));
        }
        Files.writeString(out.resolve("table.md"), table);
        System.out.print(table);
    }

    private String head(RacerRunner runner) {
        return String.format(
                Locale.ROOT,
                """
                # Where producers spend CPU, locks, memory and time

                %d threads on one producer, %s. JDK %s, %d processors, %s.
                """,
                threads.single(),
                runner.describe(),
                Runtime.version(),
                Runtime.getRuntime().availableProcessors(),
                LocalDate.now(ZoneOffset.UTC));
    }
}
