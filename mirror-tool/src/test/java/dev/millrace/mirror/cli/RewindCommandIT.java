package dev.millrace.mirror.cli;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** {@code mirror rewind} says what it would do, and does it only when told. */
@Tag("thorough")
class RewindCommandIT {
    private static final Duration STOP = Duration.ofSeconds(40);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @BeforeAll
    static void fill() {
        clusters.source().createTopic("wrong", 1, 1, Map.of());
        Numbered.write(clusters.source(), new TopicPartition("wrong", 0), Numbered.values("r", 0, 10));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--mode=auto", "--resume=exactly-once"})
    void shouldCopyAgainOrLeaveOutWhatItSays(String way) throws Exception {
        String topic = "rewound" + way.replaceAll("[^a-z]+", "-");
        TopicPartition first = new TopicPartition(topic, 0);
        TopicPartition second = new TopicPartition(topic, 1);
        clusters.source().createTopic(topic, 2, 1, Map.of());
        write(first, second, 0, 10);
        try (MirrorProcess mirror = mirror(topic, way)) {
            await("all is committed", () -> areAt(topic, 20), mirror);
            assertThat(rewind(1, topic, way, "--to=4", "--yes"))
                    .contains("has members, or its cluster does not tell. Stop it");
            assertThat(rewind(0, topic, way, "--to=4"))
                    .contains("nothing was changed: stop the mirror, and give --yes");
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        write(first, second, 10, 20);

        assertThat(rewind(0, topic, way, "--to=4"))
                .contains("at most 12 records copied again and 0 left out; nothing was changed: give --yes");
        assertThat(areAt(topic, 20)).isTrue();
        assertThat(rewind(0, topic, way, "--to=4", "--partitions=1", "--yes"))
                .contains("at most 6 records copied again and 0 left out; 'mirror run' goes on there");
        assertThat(rewind(0, topic, way, "--to=latest", "--partitions=0", "--yes"))
                .contains("at most 0 records copied again and 10 left out; 'mirror run' goes on there");
        write(first, second, 20, 25);
        try (MirrorProcess mirror = mirror(topic, way)) {
            await("all is committed", () -> areAt(topic, 50), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }

        assertThat(Numbered.read(clusters.target(), first))
                .isEqualTo(joined(Numbered.values("r", 0, 10), Numbered.values("r", 20, 25)));
        assertThat(Numbered.read(clusters.target(), second))
                .isEqualTo(joined(Numbered.values("r", 0, 10), Numbered.values("r", 4, 25)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "wrong  | 2 | --to=11                   | --to 11: wrong-0 ends at offset 10 on the source",
                "wrong  | 2 | --to=0 --partitions=0,7   | --partitions 7: none of the topics [wrong] has that partition",
                "wrong  | 1 | --to=latest --back        | has no position. 'mirror cutover --keep-way-back' commits where",
                "absent | 1 | --to=0                    | absent"
            })
    void shouldSayWhatIsWrong(String topic, int exitCode, String options, String message) {
        assertThat(rewind(exitCode, topic, (options + " --yes").split(" "))).contains(message);
    }

    private static void write(TopicPartition first, TopicPartition second, int from, int to) {
        Numbered.write(clusters.source(), first, Numbered.values("r", from, to));
        Numbered.write(clusters.source(), second, Numbered.values("r", from, to));
    }

    private static boolean areAt(String topic, long positions) {
        return clusters.committed(topic) == positions || clusters.committedOnTarget(topic) == positions;
    }

    private static MirrorProcess mirror(String topic, String way) {
        return MirrorProcess.start(clusters.arguments("run", topic, way));
    }

    /** Returns what the command prints. */
    private static String rewind(int exitCode, String topic, String... options) {
        StringWriter printed = new StringWriter();
        CommandLine main = Main.commandLine((stop, left) -> {})
                .setOut(new PrintWriter(printed))
                .setErr(new PrintWriter(printed));
        int exit = Main.execute(main, clusters.arguments("rewind", topic, options));
        assertThat(exit).as(printed.toString()).isEqualTo(exitCode);
        return printed.toString();
    }

    private static List<String> joined(List<String> one, List<String> other) {
        return Stream.concat(one.stream(), other.stream()).toList();
    }
}
