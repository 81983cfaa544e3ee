package dev.millrace.mirror.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.TopicState;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.oracle.TopicDigest;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;

/** A source and a target cluster, with what tests need to fill, mirror and compare topics. */
public final class MirrorFixture implements AutoCloseable {
    private static final String SLOW = "slow";
    private static final double SLOW_BYTES_PER_SECOND = 300e3;
    /** It bounds a hang only: on a slow machine, with other tests beside it, what takes seconds has taken minutes. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final int SHOWN_OUTPUT = 20_000;

    private final KafkaCluster source;
    private final KafkaCluster target;
    private final SourceRecords sourceRecords = new SourceRecords();

    /** Clusters of one broker each. */
    public MirrorFixture() {
        this(builder -> builder);
    }

    /** Clusters that the caller has its say in. */
    public MirrorFixture(UnaryOperator<KafkaCluster.Builder> change) {
        this(change, change);
    }

    /** A source and a target that the caller has its say in. */
    public MirrorFixture(
            UnaryOperator<KafkaCluster.Builder> changeSource, UnaryOperator<KafkaCluster.Builder> changeTarget) {
        this(
                changeSource
                        .apply(KafkaCluster.builder())
                        // Tests kill members of groups. By default a broker allows no session of less than 6 s.
                        .setting("group.min.session.timeout.ms", "1000")
                        .setting("log.cleaner.backoff.ms", "100") // by default 15 s until the cleaner looks again
                        .setting("quota.window.num", "2"), // otherwise the quota allows ten seconds of it at once
                changeTarget.apply(KafkaCluster.builder()));
    }

    private MirrorFixture(KafkaCluster.Builder source, KafkaCluster.Builder target) {
        MirrorArchive.get(); // made now if it is missing, not within a test
        this.source = source.start();
        this.target = target.start();
        // Small steps at a limited rate, so that there is time to do something midway, however fast the machine.
        List<ClientQuotaAlteration> limits = Stream.of("-0", "-1", "-2", "-0-fetcher")
                .map(client -> new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, SLOW + client)))
                .map(entity -> new ClientQuotaAlteration(
                        entity, List.of(new ClientQuotaAlteration.Op("consumer_byte_rate", SLOW_BYTES_PER_SECOND))))
                .toList();
        get(this.source.admin().alterClientQuotas(limits).all());
    }

    /** A source of one broker and a target of three, with everything at Kafka's defaults. */
    public static MirrorFixture ofKafkaDefaults() {
        return new MirrorFixture(
                KafkaCluster.builder().kafkaDefaults(),
                KafkaCluster.builder().brokers(3).kafkaDefaults());
    }

    /** Consumer configuration that limits each thread to about 4,000 records per second, for at most three threads. */
    public static String slowConsumer() {
        return """
                client.id=%s
                fetch.min.bytes=1
                max.partition.fetch.bytes=20000
                fetch.max.bytes=20000
                """.formatted(SLOW);
    }

    public KafkaCluster source() {
        return source;
    }

    public KafkaCluster target() {
        return target;
    }

    /** Starts a mirror of one topic with Millrace's producer, in a group of the topic's name. */
    public MirrorProcess mirror(String topic, int threads, CopyMode mode, String... more) {
        String[] args =
                Stream.concat(Stream.of("--mode=" + mode), Stream.of(more)).toArray(String[]::new);
        return mirror(topic, threads, ProducerKind.MILLRACE, args);
    }

    /** Starts a mirror of one topic, in a group of the topic's name. */
    public MirrorProcess mirror(String topic, int threads, ProducerKind kind, String... more) {
        return mirrorThrough(Listener.PLAINTEXT, topic, threads, kind, more);
    }

    /** As the other, with connections to a listener that both clusters have. */
    public MirrorProcess mirrorThrough(
            Listener listener, String topic, int threads, ProducerKind kind, String... more) {
        List<String> args = new ArrayList<>(List.of(
                "run",
                "--source=" + source.bootstrapServers(listener),
                "--target=" + target.bootstrapServers(listener),
                "--topics=" + topic,
                "--threads=" + threads,
                "--group=" + topic,
                "--producer=" + kind));
        args.addAll(List.of(more));
        return MirrorProcess.start(args.toArray(String[]::new));
    }

    /** A command line about one topic, in a group of the topic's name. */
    public String[] arguments(String command, String topic, String... more) {
        return Stream.concat(
                        Stream.of(
                                command,
                                "--source=" + source.bootstrapServers(),
                                "--target=" + target.bootstrapServers(),
                                "--topics=" + topic,
                                "--group=" + topic),
                        Stream.of(more))
                .toArray(String[]::new);
    }

    /** Appends {@link SourceRecords} to the partitions in turn, and waits until they are written. */
    public void fill(String topic, int partitions, int records, long seed) {
        fill(topic, partitions, records, seed, Map.of());
    }

    /** As the other, with settings of the producer. */
    public void fill(String topic, int partitions, int records, long seed, Map<String, Object> settings) {
        Map<String, Object> config = new HashMap<>(source.clientConfig());
        config.putAll(settings);
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            fill(producer, topic, partitions, records, seed);
        }
    }

    /** As the others, with the caller's producer. */
    public void fill(Producer<byte[], byte[]> producer, String topic, int partitions, int records, long seed) {
        fill(producer, topic, partitions, records, seed, Duration.ZERO);
    }

    /** As the others, with records of this age, which the topic's retention must allow. */
    public void fill(
            Producer<byte[], byte[]> producer, String topic, int partitions, int records, long seed, Duration age) {
        List<Future<?>> results = new ArrayList<>();
        sourceRecords.make(topic, partitions, records, seed, age).forEach(record -> results.add(producer.send(record)));
        producer.flush();
        for (Future<?> result : results) {
            get(result);
        }
    }

    public Comparison compare(String topic) {
        return TopicDigest.read(source.clientConfig(), topic).compare(TopicDigest.read(target.clientConfig(), topic));
    }

    /** Compares what the source has of committed records with all that the target has. */
    public Comparison compareCommitted(String topic) {
        Map<String, Object> reader = new HashMap<>(source.clientConfig());
        reader.put("isolation.level", "read_committed");
        return TopicDigest.read(reader, topic).compare(TopicDigest.read(target.clientConfig(), topic));
    }

    /** Compares what the source has with what a reader of committed records finds on the target. */
    public Comparison compareForCommittedReader(String topic) {
        // The coordinator answers a commit before the end of the transaction is in the logs.
        await("the end of the last transaction is in each log", () -> stableOnTarget(topic) == mirrored(topic));
        Map<String, Object> reader = new HashMap<>(target.clientConfig());
        reader.put("isolation.level", "read_committed");
        return TopicDigest.read(source.clientConfig(), topic).compare(TopicDigest.read(reader, topic));
    }

    /** The number of records that the target has of a topic; 0 if it lacks the topic. */
    public long mirrored(String topic) {
        return mirrored(target, topic);
    }

    static long mirrored(KafkaCluster target, String topic) {
        return sum(ends(target.admin(), topic, partitions(target, topic)));
    }

    /** As {@link #mirrored}, of each partition. */
    public Map<TopicPartition, Long> mirroredByPartition(String topic) {
        return ends(target.admin(), topic, partitions(target, topic)).entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, end -> end.getValue().offset()));
    }

    /** The number of records that the source has of a topic. */
    public long written(String topic) {
        return sum(ends(source.admin(), topic, partitions(source, topic)));
    }

    /** As {@link #written}, up to the first open transaction of each partition. */
    public long stable(String topic) {
        return stable(source, topic);
    }

    /** As {@link #mirrored}, up to the first open transaction of each partition. */
    public long stableOnTarget(String topic) {
        return stable(target, topic);
    }

    private static long stable(KafkaCluster cluster, String topic) {
        ListOffsetsOptions committed = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
        return sum(get(cluster.admin()
                .listOffsets(latest(topic, partitions(cluster, topic)), committed)
                .all()));
    }

    /** The number of source records that the mirrors of a topic have committed. */
    public long committed(String topic) {
        return positions(topic).values().stream()
                .mapToLong(OffsetAndMetadata::offset)
                .sum();
    }

    /** As {@link #committed}, of mirrors whose group is on the target. */
    public long committedOnTarget(String topic) {
        return positionsOnTarget(topic).values().stream()
                .mapToLong(OffsetAndMetadata::offset)
                .sum();
    }

    public Map<TopicPartition, OffsetAndMetadata> positions(String topic) {
        return positions(source, topic);
    }

    /** As {@link #positions}, of mirrors whose group is on the target. */
    public Map<TopicPartition, OffsetAndMetadata> positionsOnTarget(String topic) {
        return positions(target, topic);
    }

    private static Map<TopicPartition, OffsetAndMetadata> positions(KafkaCluster cluster, String topic) {
        return get(cluster.admin().listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata());
    }

    /** Sets offsets of a group on the source, which must have no members. */
    public void commit(String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        commit(source, group, offsets);
    }

    /** As the other, on a cluster. */
    public void commit(KafkaCluster cluster, String group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        get(cluster.admin().alterConsumerGroupOffsets(group, offsets).all());
    }

    /** Deletes the first records of a partition of the source. */
    public void deleteBefore(TopicPartition partition, long offset) {
        get(source.admin()
                .deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(offset)))
                .all());
    }

    /** The number of partitions; 0 if the cluster lacks the topic, or the broker that is asked has not heard of it. */
    public static int partitions(KafkaCluster cluster, String topic) {
        return getIfKnown(cluster.admin()
                        .describeTopics(List.of(topic))
                        .topicNameValues()
                        .get(topic))
                .map(description -> description.partitions().size())
                .orElse(0);
    }

    /** Writes a client's settings to a file in this folder, for {@code --consumer.config} or {@code --producer.config}. */
    public static Path settingsFile(Path folder, Map<String, Object> settings) throws IOException {
        Properties properties = new Properties();
        properties.putAll(settings);
        Path file = Files.createTempFile(folder, "client", ".properties");
        try (Writer out = Files.newBufferedWriter(file)) {
            properties.store(out, null);
        }
        return file;
    }

    /** Waits until mirrors whose group is on the target have committed so many records of a topic. */
    public void awaitCommittedOnTarget(String topic, long records, MirrorProcess... mirrors) {
        await(
                "all is committed",
                () -> committedOnTarget(topic) >= records,
                () -> "; the target: " + TopicState.of(target, topic),
                mirrors);
    }

    /** Waits for a condition. Fails at once when one of the mirrors ends, and after a time-out. */
    public static void await(String what, BooleanSupplier condition, MirrorProcess... mirrors) {
        await(what, condition, () -> "", mirrors);
    }

    /** @param tellState what else to say after a time-out, before the mirrors are killed */
    private static void await(
            String what, BooleanSupplier condition, Supplier<String> tellState, MirrorProcess... mirrors) {
        boolean holds = Await.holdsWithin(PATIENCE, () -> {
            if (condition.getAsBoolean()) {
                return true;
            }
            for (MirrorProcess mirror : mirrors) {
                assertThat(mirror.isAlive())
                        .as(() -> "A mirror ended before " + what + ": " + mirror.output())
                        .isTrue();
            }
            return false;
        });
        if (!holds) {
            throw new AssertionError("Not within " + PATIENCE + ": " + what + tellState.get()
                    + Stream.of(mirrors)
                            .map(mirror -> "; a mirror printed: "
                                    + lastOf(mirror.kill().output()))
                            .collect(Collectors.joining()));
        }
    }

    /** A verbose mirror prints megabytes. */
    private static String lastOf(String output) {
        return output.substring(Math.max(0, output.length() - SHOWN_OUTPUT));
    }

    public static <T> T get(Future<T> future) {
        try {
            return future.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Empty if the broker that is asked has not heard of the topic; others may have, just after it was created. */
    private static <T> Optional<T> getIfKnown(Future<T> future) {
        try {
            return Optional.of(get(future));
        } catch (IllegalStateException e) {
            if (e.getCause().getCause() instanceof UnknownTopicOrPartitionException) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** By partition; empty as {@link #getIfKnown}. */
    private static Map<TopicPartition, ListOffsetsResultInfo> ends(Admin admin, String topic, int partitions) {
        return getIfKnown(admin.listOffsets(latest(topic, partitions)).all()).orElse(Map.of());
    }

    private static Map<TopicPartition, OffsetSpec> latest(String topic, int partitions) {
        return IntStream.range(0, partitions)
                .boxed()
                .collect(Collectors.toMap(p -> new TopicPartition(topic, p), p -> OffsetSpec.latest()));
    }

    private static long sum(Map<TopicPartition, ListOffsetsResultInfo> ends) {
        return ends.values().stream().mapToLong(ListOffsetsResultInfo::offset).sum();
    }

    @Override
    public void close() {
        source.close();
        target.close();
    }
}
