package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.RoundTrip;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.Ports;
import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.process.JavaProgram;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers of Kafka Connect that send the lines of a file, each exactly once. */
@Tag("thorough")
@Tag("long")
class ConnectSourcesIT extends AgentFixture {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final String CONNECTOR = "org.apache.kafka.connect.file.FileStreamSourceConnector";

    @AutoClose
    private static final MavenJars jars = new MavenJars("kafka-connect");

    @TempDir
    private static Path folder;

    private final String topic = topic();

    @Test
    void shouldSendForAStandaloneWorker() throws Exception {
        List<String> lines = lines(20_000);
        Map<String, Object> worker = worker(freePort());
        worker.put("offset.storage.file.filename", folder.resolve("offsets-of-" + topic));
        String workerFile = jars.store("worker.properties", worker).toString();
        Map<String, Object> connector = new HashMap<>(connector());
        connector.put("name", topic);
        String connectorFile = jars.store("connector.properties", connector).toString();

        try (JavaProgram program = AgentRun.withAgent(jars)
                .start("org.apache.kafka.connect.cli.ConnectStandalone", workerFile, connectorFile)) {
            awaitLines(lines.size(), program);
            program.stop(PATIENCE);

            assertThat(program.output()).contains(" are Millrace ");
        }

        assertThat(read()).isEqualTo(lines);
    }

    /** The second worker goes on where the last committed transaction of the first one ends. */
    @Test
    void shouldSendEachLineOnceForAWorkerWithExactlyOnceThatIsKilled() throws Exception {
        List<String> lines = lines(200_000);
        int port = freePort();
        Map<String, Object> worker = worker(port);
        worker.put("group.id", topic + "-workers");
        worker.put("exactly.once.source.support", "enabled");
        for (String kind : List.of("config", "offset", "status")) {
            worker.put(kind + ".storage.topic", topic + "-" + kind);
            worker.put(kind + ".storage.replication.factor", 1);
        }
        String file = jars.store("distributed.properties", worker).toString();

        try (JavaProgram first =
                AgentRun.withAgent(jars).start("org.apache.kafka.connect.cli.ConnectDistributed", file)) {
            Await.until("the worker takes the connector", PATIENCE, () -> put(port, connector(), first));
            awaitLines(1, first);
            first.kill();
        }
        List<String> more = append(lines, 1_000); // the second has something to do even if the first has sent all
        try (JavaProgram second =
                AgentRun.withAgent(jars).start("org.apache.kafka.connect.cli.ConnectDistributed", file)) {
            awaitLines(more.size(), second);
            second.stop(PATIENCE);

            assertThat(second.output()).contains(" are Millrace ");
        }

        assertThat(read()).isEqualTo(more);
    }

    private static int freePort() {
        return Ports.findFree(1).remove();
    }

    private List<String> lines(int count) throws IOException {
        return append(List.of(), count);
    }

    /** Appends so many lines to the file, and returns all. */
    private List<String> append(List<String> before, int count) throws IOException {
        List<String> more = IntStream.range(before.size(), before.size() + count)
                .mapToObj(number -> "line %06d of %s".formatted(number, topic))
                .toList();
        Files.write(file(), more, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return Stream.concat(before.stream(), more.stream()).toList();
    }

    private Path file() {
        return folder.resolve(topic + ".txt");
    }

    private Map<String, Object> connector() {
        return Map.of(
                "connector.class", CONNECTOR, "tasks.max", 1, "topic", topic, "file", file(), "batch.size", 1_000);
    }

    private static Map<String, Object> worker(int port) {
        String converter = "org.apache.kafka.connect.storage.StringConverter";
        return new HashMap<>(Map.of(
                "bootstrap.servers",
                servers(),
                "key.converter",
                converter,
                "value.converter",
                converter,
                "offset.flush.interval.ms",
                1_000,
                "listeners",
                "http://127.0.0.1:" + port));
    }

    /** Whether the worker has taken the connector; it may not be ready yet. */
    private boolean put(int port, Map<String, Object> connector, JavaProgram worker) {
        assertThat(worker.isAlive()).as(worker.output()).isTrue();
        String json = connector.entrySet().stream()
                .map(setting -> "\"" + setting.getKey() + "\": \"" + setting.getValue() + "\"")
                .collect(Collectors.joining(", ", "{", "}"));
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/connectors/" + topic + "/config"))
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(json))
                .build();
        try {
            return HttpClient.newHttpClient()
                            .send(request, BodyHandlers.ofString())
                            .statusCode()
                    < 300;
        } catch (IOException e) {
            return false; // it does not listen yet
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitLines(int count, JavaProgram worker) {
        Await.until(count + " lines are sent", PATIENCE, () -> {
            assertThat(worker.isAlive()).as(worker.output()).isTrue();
            return read().size() >= count;
        });
    }

    /** The lines in the topic, in the order of the file, which partitions do not keep. */
    private List<String> read() {
        return new RoundTrip(servers(), topic)
                .read().stream()
                        .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                        .sorted()
                        .toList();
    }
}
