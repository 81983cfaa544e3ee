package dev.millrace.client.it.versions;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * A program with the newest kafka-clients that does the same with the stock producer and with Millrace, and prints what a
 * user sees of each, a line for each step that begins with the name of the producer.
 */
final class NewestSettingsProgram {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int RECORDS_PER_ROUND = 500;
    private static final int ROUNDS = 40;

    private NewestSettingsProgram() {}

    /**
     * Runs one scenario.
     *
     * @param arguments its name, the bootstrap servers, a topic, and what else the scenario needs
     */
    public static void main(String[] arguments) throws Exception {
        Security.setProperty("networkaddress.cache.negative.ttl", "0"); // a name is looked up again at once
        String servers = arguments[1];
        String topic = arguments[2];
        for (ProducerKind kind : ProducerKind.values()) {
            switch (arguments[0]) {
                case "leaders" -> printLeaders(kind, servers, topic, arguments[3], arguments[4]);
                case "resolution" -> printResolution(kind, servers, topic, Path.of(arguments[3]));
                default -> throw new IllegalArgumentException("No scenario " + arguments[0]);
            }
        }
    }

    // ---- KIP-1123 ----

    /** Prints the leaders to which records without a key go; sends until all are among them, at most 40 rounds. */
    private static void printLeaders(ProducerKind kind, String servers, String topic, String rack, String isRackAware) {
        Map<String, Object> client = Map.of("bootstrap.servers", servers);
        try (Producer<byte[], byte[]> producer =
                kind.create(client, "client.rack", rack, "partitioner.rack.aware", isRackAware)) {
            Map<Integer, Integer> leaders = new TreeMap<>();
            producer.partitionsFor(topic)
                    .forEach(partition -> leaders.put(
                            partition.partition(), partition.leader().id()));
            Set<Integer> used = new TreeSet<>();
            for (int round = 0; round < ROUNDS && !used.containsAll(leaders.values()); round++) {
                partitionsOfRound(producer, topic).forEach(partition -> used.add(leaders.get(partition)));
            }
            print(kind, "leaders", used.toString());
        }
    }

    private static Set<Integer> partitionsOfRound(Producer<byte[], byte[]> producer, String topic) {
        Set<Integer> partitions = new ConcurrentSkipListSet<>();
        for (int i = 0; i < RECORDS_PER_ROUND; i++) {
            var unused = producer.send(
                    new ProducerRecord<>(topic, new byte[1_000]),
                    (metadata, failure) -> partitions.add(failure == null ? metadata.partition() : -1));
        }
        producer.flush();
        return partitions;
    }

    // ---- KIP-909 ----

    /**
     * Prints what the constructor and the first calls do while nobody knows the name of the bootstrap server, and after.
     *
     * @param hosts the file from which this JVM resolves names
     */
    private static void printResolution(ProducerKind kind, String servers, String topic, Path hosts) throws Exception {
        String name = "broker.of." + kind.name().toLowerCase(Locale.ROOT);
        Map<String, Object> client = Map.of("bootstrap.servers", name + servers.substring(servers.lastIndexOf(':')));
        print(kind, "constructor by default", outcome(() -> kind.create(client).close()));
        print(kind, "constructor, -1", outcome(() -> create(kind, client, -1).close()));
        print(
                kind,
                "constructor, no port",
                outcome(() ->
                        create(kind, Map.of("bootstrap.servers", name), 1_000).close()));

        try (Producer<byte[], byte[]> patient = create(kind, client, PATIENCE.toMillis());
                Producer<byte[], byte[]> impatient = create(kind, client, 1, "max.block.ms", PATIENCE.toMillis());
                Producer<byte[], byte[]> transactional = create(kind, client, 1, "transactional.id", "t")) {
            print(kind, "send in time", outcome(() -> send(patient, topic)));
            print(kind, "partitionsFor in time", outcome(() -> patient.partitionsFor(topic)));
            print(kind, "partitionsFor too late", outcome(() -> impatient.partitionsFor(topic)));
            print(kind, "send too late", outcome(() -> send(impatient, topic)));
            print(kind, "initTransactions too late", outcome(transactional::initTransactions));

            Files.writeString(hosts, Files.readString(hosts) + "127.0.0.1 " + name + "\n");

            Await.until(
                    "a record is acknowledged",
                    PATIENCE,
                    () -> outcome(() -> send(patient, topic)).equals("returns"));
            print(kind, "send, resolved in time", outcome(() -> send(patient, topic)));
            print(kind, "send, resolved too late", outcome(() -> send(impatient, topic)));
            print(kind, "flush, resolved too late", outcome(impatient::flush));
        }
        print(kind, "close", "returns");
    }

    private static Producer<byte[], byte[]> create(
            ProducerKind kind, Map<String, Object> client, long resolveTimeoutMs, Object... more) {
        Map<String, Object> configs = ProducerKind.with(client, "bootstrap.resolve.timeout.ms", resolveTimeoutMs);
        configs.put("max.block.ms", 500);
        return kind.create(configs, more);
    }

    private static void send(Producer<byte[], byte[]> producer, String topic) throws Exception {
        Future<RecordMetadata> future = producer.send(new ProducerRecord<>(topic, new byte[10]));
        try {
            future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new FailedFutureException(e.getCause());
        }
    }

    /** Tells a failed future from a throwing {@code send}. */
    private static final class FailedFutureException extends Exception {
        private static final long serialVersionUID = 1;

        FailedFutureException(Throwable cause) {
            super(cause);
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    /** Returns the exception and its last cause. */
    private static String outcome(Step step) {
        try {
            step.run();
            return "returns";
        } catch (Exception e) {
            Throwable last = e;
            while (last.getCause() != null) {
                last = last.getCause();
            }
            return e.getClass().getName()
                    + (last == e ? "" : ", " + last.getClass().getName());
        }
    }

    private static void print(ProducerKind kind, String step, String outcome) {
        System.out.println(kind + " " + step + ": " + outcome);
    }
}
