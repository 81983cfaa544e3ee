package dev.millrace.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.RoundTrip;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.Ports;
import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.process.ChildMaven;
import dev.millrace.testkit.process.JavaProgram;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker of Kafka Connect that has Debezium as a plugin, and a PostgreSQL server whose changes it sends. */
@Tag("thorough")
@Tag("long")
class DebeziumIT extends AgentFixture {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Path BUILT = Path.of("target/debezium").toAbsolutePath();
    private static final Pattern KEY = Pattern.compile("\\{\"id\":(\\d+)}");
    private static final Pattern CHANGE = Pattern.compile(
            "\"after\":(?:null|\\{\"id\":\\d+,\"item\":\"(?<item>[^\"]*)\"}).*\"op\":\"(?<operation>.)\"");
    private static final Pattern PORT = Pattern.compile("(?m)^port (\\d+)$");

    @AutoClose
    private static final MavenJars jars = new MavenJars("kafka-connect");

    @TempDir
    private Path folder;

    private final String topic = topic("shop.public.orders");

    @Test
    void shouldSendTheHistoryOfEachRow() throws Exception {
        ChildMaven.plain().run(Path.of("src/test/debezium"), "process-classes");
        Map<Integer, List<String>> expected = expectedHistories();
        int changes = expected.values().stream().mapToInt(List::size).sum();

        String output;
        try (JavaProgram database = AgentRun.withoutAgent()
                .classPath(List.of(
                        BUILT.resolve("classes").toString(),
                        BUILT.resolve("database/*").toString()))
                .option("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
                .start("com.example.shop.Database")) {
            try (JavaProgram worker = AgentRun.withAgent(jars)
                    .start("org.apache.kafka.connect.cli.ConnectStandalone", worker(), connector(portOf(database)))) {
                Await.until("all changes are sent", PATIENCE, () -> {
                    assertThat(worker.isAlive()).as(worker.output()).isTrue();
                    return read().size() >= changes;
                });
                worker.stop(PATIENCE);
                output = worker.output();
            } finally {
                database.stop(PATIENCE); // with the server, which is a process of its own
            }
        }

        assertThat(output)
                .contains("The KafkaProducers of kafka-clients " + AgentRun.KAFKA)
                .doesNotContain("is the stock producer");
        Map<Integer, List<String>> histories =
                read().stream().collect(groupingBy(DebeziumIT::row, mapping(DebeziumIT::change, toList())));
        assertThat(histories).isEqualTo(expected);
    }

    /** What {@code com.example.shop.Database} does, as Debezium names it: r is read, c created, u updated, d deleted. */
    private static Map<Integer, List<String>> expectedHistories() {
        Map<Integer, List<String>> histories = new HashMap<>();
        for (int id = 1; id <= 2_000; id++) {
            List<String> changes = new ArrayList<>();
            changes.add((id <= 1_000 ? "r" : "c") + " item " + id);
            if (id % 10 == 0) {
                changes.add("u changed item " + id);
            }
            if (id % 100 == 7) {
                changes.add("d null");
                changes.add("tombstone");
            }
            histories.put(id, changes);
        }
        return histories;
    }

    private static String portOf(JavaProgram database) {
        Await.until("the database listens", PATIENCE, () -> {
            assertThat(database.isAlive()).as(database.output()).isTrue();
            return PORT.matcher(database.output()).find();
        });
        Matcher port = PORT.matcher(database.output());
        assertThat(port.find()).isTrue();
        return port.group(1);
    }

    private String worker() {
        Map<String, Object> worker = new HashMap<>(Map.of(
                "bootstrap.servers",
                servers(),
                "listeners",
                "http://127.0.0.1:" + Ports.findFree(1).remove(),
                "offset.flush.interval.ms",
                1_000,
                "offset.storage.file.filename",
                folder.resolve("offsets"),
                "plugin.path",
                BUILT.resolve("plugins")));
        for (String kind : List.of("key", "value")) {
            worker.put(kind + ".converter", "org.apache.kafka.connect.json.JsonConverter");
            worker.put(kind + ".converter.schemas.enable", false);
        }
        return jars.store("worker.properties", worker).toString();
    }

    private static String connector(String port) {
        Map<String, Object> connector = new HashMap<>(Map.of(
                "name",
                "orders",
                "connector.class",
                "io.debezium.connector.postgresql.PostgresConnector",
                "topic.prefix",
                "shop",
                "table.include.list",
                "public.orders",
                "plugin.name",
                "pgoutput")); // the one that PostgreSQL brings
        connector.put("database.hostname", "127.0.0.1");
        connector.put("database.port", port);
        connector.put("database.user", "postgres");
        connector.put("database.password", "postgres");
        connector.put("database.dbname", "postgres");
        return jars.store("connector.properties", connector).toString();
    }

    private List<ConsumerRecord<byte[], byte[]>> read() {
        return new RoundTrip(servers(), topic).read();
    }

    private static int row(ConsumerRecord<byte[], byte[]> record) {
        Matcher key = KEY.matcher(new String(record.key(), UTF_8));
        assertThat(key.matches()).isTrue();
        return Integer.parseInt(key.group(1));
    }

    private static String change(ConsumerRecord<byte[], byte[]> record) {
        if (record.value() == null) {
            return "tombstone";
        }
        Matcher change = CHANGE.matcher(new String(record.value(), UTF_8));
        assertThat(change.find()).isTrue();
        return change.group("operation") + " " + change.group("item");
    }
}
