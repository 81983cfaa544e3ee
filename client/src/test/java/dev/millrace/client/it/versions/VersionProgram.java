package dev.millrace.client.it.versions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.MillraceProducer;
import dev.millrace.client.support.KafkaClients;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.TopicContents;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A program of a user who has any version of kafka-clients. It sends with everything that a user may plug in, and compares
 * what that version's consumer reads. It must not load classes of the test kit that need a certain version.
 */
final class VersionProgram {
    static final int PARTITIONS = 3;

    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final int RECORDS = 600;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** The first minor version of 4 whose interceptors are told headers and whose plugins can have metrics. */
    private static final int FIRST_WITH_NEW_PLUGINS = 1;

    private final String bootstrapServers;
    private final String version;

    private VersionProgram(String bootstrapServers, String version) {
        this.bootstrapServers = bootstrapServers;
        this.version = version;
    }

    /** The topics that it needs. */
    static List<String> topics(String version) {
        return Stream.concat(CODECS.stream(), Stream.of("encrypted", "transactions", "plugins"))
                .map(name -> name + "-" + version)
                .toList();
    }

    public static void main(String[] arguments) throws Exception {
        VersionProgram program = new VersionProgram(arguments[0], arguments[1]);
        assertThat(KafkaClients.version()).isEqualTo(program.version);
        for (String codec : CODECS) {
            program.sendWith(codec);
        }
        program.sendEncrypted(List.of(arguments).subList(2, arguments.length));
        program.sendInTransactions();
        program.sendWithPlugins();
        System.out.println("OK with kafka-clients " + program.version);
    }

    private void sendWith(String codec) throws Exception {
        String topic = codec + "-" + version;
        List<Future<RecordMetadata>> told = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = create(Map.of("compression.type", codec))) {
            for (int i = 0; i < RECORDS; i++) {
                told.add(producer.send(record(topic, i)));
            }
        }

        List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(client(), topic);
        assertThat(read).hasSize(RECORDS);
        for (int i = 0; i < RECORDS; i++) {
            RecordMetadata metadata = told.get(i).get();
            assertSame(
                    record(topic, i),
                    read.stream()
                            .filter(found ->
                                    found.partition() == metadata.partition() && found.offset() == metadata.offset())
                            .findFirst()
                            .orElseThrow());
        }
        System.out.println(codec + ": read " + read.size() + " records, each as it was sent");
    }

    /**
     * Sends through TLS, with a password.
     *
     * @param settings what a client needs for that, as {@code key=value}
     */
    private void sendEncrypted(List<String> settings) throws Exception {
        String topic = "encrypted-" + version;
        Map<String, Object> client = new HashMap<>();
        for (String setting : settings) {
            int end = setting.indexOf('=');
            client.put(setting.substring(0, end), setting.substring(end + 1));
        }
        try (Producer<byte[], byte[]> producer = create(client)) {
            producer.send(record(topic, 1)).get();
        }

        List<ConsumerRecord<byte[], byte[]>> read = TopicContents.read(client, topic);
        assertThat(read).hasSize(1);
        assertSame(record(topic, 1), read.get(0));
        System.out.println(client.get("security.protocol") + ": read 1 record as it was sent");
    }

    private void sendInTransactions() throws Exception {
        String topic = "transactions-" + version;
        try (Producer<byte[], byte[]> producer = create(Map.of("transactional.id", topic))) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int i = 0; i < RECORDS; i++) {
                producer.send(record(topic, i));
            }
            producer.commitTransaction();
            producer.beginTransaction();
            producer.send(record(topic, RECORDS)).get();
            producer.abortTransaction();
        }

        Await.until(
                "no transaction is open",
                PATIENCE,
                () -> TopicContents.end(client(), topic, IsolationLevel.READ_COMMITTED)
                        == TopicContents.end(client(), topic, IsolationLevel.READ_UNCOMMITTED));
        Map<String, Object> committed = client();
        committed.put("isolation.level", "read_committed");
        assertThat(TopicContents.read(committed, topic)).hasSize(RECORDS);
        assertThat(TopicContents.read(client(), topic)).hasSize(RECORDS + 1);
        System.out.println("transactions: " + RECORDS + " records committed, 1 aborted");
    }

    private void sendWithPlugins() throws Exception {
        String topic = "plugins-" + version;
        boolean areNew = !version.startsWith("3.") && minor() >= FIRST_WITH_NEW_PLUGINS;
        assertThat(isPresent("org.apache.kafka.common.metrics.Monitorable")).isEqualTo(areNew);
        Map<String, Object> plugins = new HashMap<>(Map.of("client.id", topic));
        plugins.put("interceptor.classes", VersionPlugins.interceptors(areNew));
        // In the same way as the stock producer, 3.9 adds the JMX reporter to those that are configured.
        plugins.put(
                "metric.reporters",
                version.startsWith("3.")
                        ? VersionPlugins.Reporter.class.getName()
                        : VersionPlugins.Reporter.class.getName() + ",org.apache.kafka.common.metrics.JmxReporter");
        ObjectName bean = new ObjectName("kafka.producer:type=producer-metrics,client-id=" + topic);
        try (Producer<byte[], byte[]> producer = create(plugins)) {
            producer.send(record(topic, 0)).get();
            Future<RecordMetadata> refused = producer.send(new ProducerRecord<>(topic, new byte[2_000_000]));
            assertThatThrownBy(refused::get).hasCauseInstanceOf(RecordTooLargeException.class);

            assertThat(producer.metrics().keySet().stream()
                            .anyMatch(metric -> metric.name().equals(VersionPlugins.METRIC)))
                    .isEqualTo(areNew);
            assertThat(isRegistered(bean)).isTrue();
        }
        assertThat(isRegistered(bean)).isFalse();
        String how = areNew ? " with headers " : " ";
        assertThat(VersionPlugins.TOLD)
                .containsExactly("acknowledged" + how + "null", "acknowledged" + how + "RecordTooLargeException");
        assertThat(VersionPlugins.Reporter.closedWith())
                .contains("record-send-total")
                .contains("batch-size-avg");
        try (Producer<byte[], byte[]> producer = create(Map.of("client.id", topic))) {
            assertThat(isRegistered(bean)).as("by default").isTrue();
            assertThat(producer.metrics()).isNotEmpty();
        }
        System.out.println("plugins: " + VersionPlugins.TOLD + ", metrics of their own: " + areNew);
    }

    private int minor() {
        return Integer.parseInt(version.substring(2, version.lastIndexOf('.')));
    }

    private static boolean isPresent(String className) {
        try {
            Class.forName(className);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static boolean isRegistered(ObjectName bean) {
        return ManagementFactory.getPlatformMBeanServer().isRegistered(bean);
    }

    private Map<String, Object> client() {
        return new HashMap<>(Map.of("bootstrap.servers", bootstrapServers));
    }

    private Producer<byte[], byte[]> create(Map<String, Object> more) {
        Map<String, Object> configs = client();
        configs.putAll(more);
        return new MillraceProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** The record with this number; the same at each call. */
    private static ProducerRecord<byte[], byte[]> record(String topic, int number) {
        byte[] key = number % 3 == 0 ? null : ("key-" + number).getBytes(StandardCharsets.UTF_8);
        byte[] value = new byte[number * 7 % 2000];
        Arrays.fill(value, (byte) number);
        Integer partition = number % 2 == 0 ? number % PARTITIONS : null;
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, partition, 1_700_000_000_000L + number, key, value);
        if (number % 5 == 0) {
            record.headers().add("number", new byte[] {(byte) number}).add("nothing", null);
        }
        return record;
    }

    private static void assertSame(ProducerRecord<byte[], byte[]> sent, ConsumerRecord<byte[], byte[]> found) {
        assertThat(found.key()).isEqualTo(sent.key());
        assertThat(found.value()).isEqualTo(sent.value());
        assertThat(found.timestamp()).isEqualTo(sent.timestamp());
        if (sent.partition() != null) {
            assertThat(found.partition()).isEqualTo(sent.partition());
        }
        Header[] headers = found.headers().toArray();
        assertThat(headers).isEqualTo(sent.headers().toArray());
    }
}
