package dev.millrace.mirror.support;

import dev.millrace.testkit.oracle.TopicDigest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;

/** Topics on a source that differ in everything that matters to a mirror; the last transaction of one of them is open. */
public final class TopicsOfEveryKind implements AutoCloseable {
    private static final int PARTITIONS = 2;
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");

    private final MirrorFixture clusters;
    private final String prefix;
    private final long seed;
    private final Random random;
    private final List<String> names = new ArrayList<>();
    private final KafkaProducer<byte[], byte[]> transactions;

    /** Creates and fills the topics; their names begin with {@code prefix}. */
    public TopicsOfEveryKind(MirrorFixture clusters, String prefix, long seed) {
        this.clusters = clusters;
        this.prefix = prefix;
        this.seed = seed;
        this.random = new Random(seed);
        this.transactions = producer(Map.of("transactional.id", prefix));
        compact();
        String codecs = create("codecs", Map.of());
        CODECS.forEach(codec -> clusters.fill(codecs, PARTITIONS, 400, seed, Map.of("compression.type", codec)));
        clusters.fill(create("append-time", Map.of("message.timestamp.type", "LogAppendTime")), PARTITIONS, 400, seed);
        clusters.fill(create("tiny", Map.of()), PARTITIONS, 400, seed, Map.of("batch.size", 0));
        fillHuge();
        String tombstones = create("tombstones", Map.of());
        send(Map.of(), 400, i -> new ProducerRecord<>(tombstones, i % PARTITIONS, (long) i, bytes(10), (byte[]) null));
        fillWithHeaders();
        fillInTransactions();
    }

    public List<String> names() {
        return names;
    }

    private String create(String kind, Map<String, String> config) {
        String topic = prefix + kind;
        Map<String, String> all = new HashMap<>(config);
        all.put("retention.ms", "-1"); // records are of 1970, and are to be read
        clusters.source().createTopic(topic, PARTITIONS, 1, all);
        names.add(topic);
        return topic;
    }

    /** Gaps, batches without records, and tombstones with a delete horizon; what comes last is not compacted. */
    private void compact() {
        String topic = create(
                "compacted",
                Map.of("cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.001", "segment.ms", "100"));
        int records = 2_000;
        for (int part = 0; part < 20; part++) {
            long time = System.currentTimeMillis() + part * 1_000L; // each in a segment of its own
            send(Map.of("linger.ms", 10), records / 20, i -> {
                byte[] value = random.nextInt(4) == 0 ? null : bytes(50);
                return new ProducerRecord<>(topic, i % PARTITIONS, time + i, key(random.nextInt(40)), value);
            });
        }
        MirrorFixture.await(
                topic + " is compacted",
                () -> TopicDigest.read(clusters.source().clientConfig(), topic).records() < records / 2);
        AlterConfigOp off = new AlterConfigOp(new ConfigEntry("cleanup.policy", "delete"), AlterConfigOp.OpType.SET);
        MirrorFixture.get(clusters.source()
                .admin()
                .incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), List.of(off)))
                .all()); // else the source would change while it is mirrored
    }

    /** Batches that are larger than a producer's request by default. */
    private void fillHuge() {
        String topic = create("huge", Map.of("max.message.bytes", "4000000"));
        send(
                Map.of("batch.size", 3_000_000, "max.request.size", 4_000_000, "linger.ms", 1_000),
                6_000,
                i -> new ProducerRecord<>(topic, i % PARTITIONS, (long) i, null, bytes(1_000)));
    }

    private void fillWithHeaders() {
        String topic = create("headers", Map.of());
        send(Map.of("compression.type", "lz4"), 400, i -> {
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topic, i % PARTITIONS, (long) i, null, bytes(9));
            for (int header = 0; header < 60; header++) {
                record.headers().add("h" + header % 7, header % 5 == 0 ? null : bytes(20));
            }
            return record;
        });
    }

    private void fillInTransactions() {
        String topic = create("transactions", Map.of());
        transactions.initTransactions();
        for (int transaction = 0; transaction < 12; transaction++) {
            sendInTransaction(topic, transaction);
            if (transaction % 3 == 0) {
                transactions.abortTransaction();
            } else {
                transactions.commitTransaction();
            }
            clusters.fill(topic, PARTITIONS, 50, seed + transaction);
        }
        sendInTransaction(topic, 12);
    }

    private void sendInTransaction(String topic, int transaction) {
        transactions.beginTransaction();
        for (int i = 0; i < 50; i++) {
            transactions.send(new ProducerRecord<>(topic, i % PARTITIONS, key(transaction * 50 + i), key(transaction)));
        }
        transactions.flush();
    }

    private void send(Map<String, Object> settings, int records, IntFunction<ProducerRecord<byte[], byte[]>> make) {
        try (KafkaProducer<byte[], byte[]> producer = producer(settings)) {
            for (int i = 0; i < records; i++) {
                producer.send(make.apply(i), (metadata, failure) -> {
                    if (failure != null) {
                        throw new IllegalStateException(failure);
                    }
                });
            }
        }
    }

    private KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        config.putAll(settings);
        return StockProducers.create(config);
    }

    private static byte[] key(int number) {
        return Integer.toString(number).getBytes(StandardCharsets.UTF_8);
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Leaves the last transaction open; the broker will abort it. */
    @Override
    public void close() {
        transactions.close();
    }
}
