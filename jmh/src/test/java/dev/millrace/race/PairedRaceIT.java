package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Producers that send in turn; those in other languages only where they can be built. */
@Tag("thorough")
@Tag("long")
class PairedRaceIT {
    private static final int TURNS = 10;

    @ParameterizedTest
    @ValueSource(strings = {"--records=3001", "--rate=2000 --callbacks"})
    void shouldGiveEachProducerItsTurns(String length) {
        RaceCommand options = new RaceCommand();
        String line = "--paired=" + TURNS + " --threads=2 --partitions=4 --warmup=500 " + length;
        new CommandLine(options).parseArgs(line.split(" "));
        List<RacerProgram> racers = new ArrayList<>(List.of(RacerJvm.named("millrace"), RacerJvm.named("kafka-4.4.0")));
        if (options.rate() == 0) {
            Stream.of("franz-go", "librdkafka")
                    .map(name -> NonJavaRacer.build(
                            name, RacerJvm.nonJavaSources(), RacerJvm.nonJavaPrograms(), System.out::println))
                    .flatMap(Optional::stream)
                    .forEach(racers::add);
        }
        ByteArrayOutputStream progress = new ByteArrayOutputStream();

        RaceResults results =
                new PairedRace(options, racers, new PrintStream(progress, true, StandardCharsets.UTF_8)).run();

        System.out.println(results.table());
        assertThat(progress.toString(StandardCharsets.UTF_8)).contains("round 10 of 10, 2 threads: ");
        List<String> lines = results.json().lines().toList();
        assertThat(lines).hasSize(racers.size());
        assertThat(lines.subList(1, lines.size()))
                .allSatisfy(json -> assertThat(json).contains("_ratio_low\": "));
        assertThat(results.isMeasured(RaceMetric.OWN_CPU_NS_PER_RECORD)).isEqualTo(options.rate() > 0);
    }
}
