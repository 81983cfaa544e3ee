package dev.millrace.client.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the settings of 4.4 do in the stock producer of that version, and in Millrace with the same kafka-clients. */
@Tag("thorough")
class NewestSettingsIT {
    private static final String TOPIC = "newest-settings";
    private static final String ERRORS = "org.apache.kafka.common.errors.";

    @AutoClose
    private static KafkaCluster cluster;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() {
        cluster = KafkaCluster.builder().brokers(3).start();
        cluster.createServedTopic(TOPIC, 6, 3, Map.of());
    }

    /** KIP-1123. */
    @Test
    void shouldSendToTheLeadersToWhichTheStockProducerSends() throws Exception {
        int near = cluster.leader(TOPIC, 0);
        String all = new TreeSet<>(IntStream.range(0, 6)
                        .mapToObj(partition -> cluster.leader(TOPIC, partition))
                        .toList())
                .toString();

        assertBothPrint(leadersWith(cluster.rack(near), true), "leaders: [" + near + "]");
        assertBothPrint(leadersWith(cluster.rack(near), false), "leaders: " + all);
        assertBothPrint(leadersWith("elsewhere", true), "leaders: " + all);
    }

    private String leadersWith(String rack, boolean isRackAware) throws Exception {
        return outputOf("leaders", cluster.bootstrapServers(), TOPIC, rack, Boolean.toString(isRackAware));
    }

    /** KIP-909. */
    @Test
    void shouldResolveTheBootstrapServersAsTheStockProducerDoes() throws Exception {
        String servers = cluster.bootstrapServers();
        String server = servers.substring(0, servers.indexOf(','));

        String output = outputOf("resolution", server, TOPIC, hosts().toString());

        String misconfigured = "org.apache.kafka.common.KafkaException, org.apache.kafka.common.config.ConfigException";
        String late = ERRORS + "TimeoutException";
        String unresolved = ERRORS + "BootstrapResolutionException";
        assertBothPrint(
                output,
                "constructor by default: " + misconfigured,
                "constructor, -1: org.apache.kafka.common.config.ConfigException",
                "constructor, no port: " + misconfigured,
                "send in time: " + NewestSettingsProgram.class.getName() + "$FailedFutureException, " + late,
                "partitionsFor in time: " + late,
                "partitionsFor too late: " + unresolved,
                "send too late: " + unresolved,
                "initTransactions too late: " + late,
                "send, resolved in time: returns",
                "send, resolved too late: " + unresolved,
                "flush, resolved too late: returns",
                "close: returns");
    }

    private Path hosts() throws Exception {
        Path file = folder.resolve("hosts");
        return Files.exists(file) ? file : Files.writeString(file, "127.0.0.1 localhost\n");
    }

    private String outputOf(String... arguments) throws Exception {
        JavaRuntime runtime =
                JavaRuntime.ofThisJvm().withoutJars("kafka[-_].*").withFirstOnClassPath(VersionsIT.newestJar());
        List<String> options = new ArrayList<>(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"));
        options.add("-Djdk.net.hosts.file=" + hosts());
        try (JavaProgram program = JavaProgram.start(runtime, options, NewestSettingsProgram.class, arguments)) {
            assertThat(program.awaitEnd(Duration.ofMinutes(4)))
                    .as(program.output())
                    .isZero();
            return program.output();
        }
    }

    private static void assertBothPrint(String output, String... steps) {
        for (ProducerKind kind : ProducerKind.values()) {
            String start = kind + " ";
            assertThat(output.lines()
                            .filter(line -> line.startsWith(start))
                            .map(line -> line.substring(start.length())))
                    .as(output)
                    .containsExactly(steps);
        }
    }
}
