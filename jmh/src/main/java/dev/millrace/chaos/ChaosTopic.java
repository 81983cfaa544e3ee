package dev.millrace.chaos;

import dev.millrace.testkit.oracle.TopicTerms;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.TopicPartition;

/**
 * A topic that the threads send to.
 *
 * <p><b>Threads:</b> one changes it, any reads it.
 */
final class ChaosTopic {
    /** What happens to a topic. */
    enum Kind {
        /** Must keep every record that it acknowledges. */
        KEPT,
        /** As {@link #KEPT}. Its records are of days ago, so brokers forget who wrote them as soon as they look. */
        BACKFILL,
        /** As {@link #BACKFILL}, and refuses all but small batches, before it writes them. */
        REFUSING,
        /** Must keep every record, on its only replica, which is never lost. */
        SOLE,
        /** Has unclean leader elections: by Kafka's own semantics it may lose what it has acknowledged before one. */
        UNCLEAN,
        /** Is deleted, created anew and given more partitions. */
        CHURNED;

        /** Whether it has several replicas, two of which must be in sync for each acknowledgement. */
        boolean isKept() {
            return this == KEPT || this == BACKFILL || this == REFUSING;
        }
    }

    static final String MIN_IN_SYNC = "min.insync.replicas";

    /** The value of {@link #MIN_IN_SYNC} with which a topic keeps what it has acknowledged. */
    static final String KEPT_IN_SYNC = "2";

    /** More than {@code producer.id.expiration.ms}, which is a day by default. */
    private static final Duration AGE = Duration.ofDays(3);

    /** A few records fit. */
    private static final int REFUSING_BYTES = 1_000;

    private final String name;
    private final Kind kind;
    private volatile int partitions;

    /** Odd while the topic is being deleted and created anew: nobody can know in which one a record ends. */
    private final AtomicInteger generation = new AtomicInteger();

    private final Map<Integer, Long> uncleanMs = new ConcurrentHashMap<>();

    ChaosTopic(String name, Kind kind, int partitions) {
        this.name = name;
        this.kind = kind;
        this.partitions = partitions;
    }

    String name() {
        return name;
    }

    Kind kind() {
        return kind;
    }

    int partitions() {
        return partitions;
    }

    List<TopicPartition> allPartitions() {
        return IntStream.range(0, partitions)
                .mapToObj(partition -> new TopicPartition(name, partition))
                .toList();
    }

    int generation() {
        return generation.get();
    }

    /** Whether its records have timestamps for which brokers forget their producers. */
    boolean isOld() {
        return kind == Kind.BACKFILL || kind == Kind.REFUSING;
    }

    /** The timestamp of a record that is sent now; null for the producer's own. */
    Long timestamp() {
        return isOld() ? System.currentTimeMillis() - AGE.toMillis() : null;
    }

    /** How it is created. */
    NewTopic wanted() {
        Map<String, String> configs = new HashMap<>();
        configs.put(MIN_IN_SYNC, kind == Kind.UNCLEAN || kind == Kind.SOLE ? "1" : KEPT_IN_SYNC);
        configs.put("retention.ms", "-1"); // keeps old records, too
        if (kind == Kind.REFUSING) {
            configs.put("max.message.bytes", Integer.toString(REFUSING_BYTES));
        }
        NewTopic wanted = kind == Kind.SOLE
                ? new NewTopic(
                        name,
                        IntStream.range(0, partitions)
                                .boxed()
                                .collect(Collectors.toMap(p -> p, p -> List.of(ChaosCluster.SOLE))))
                : new NewTopic(name, partitions, (short) ChaosCluster.BROKERS);
        return wanted.configs(configs);
    }

    void setPartitions(int count) {
        partitions = count;
    }

    /** Call it before the topic is deleted. */
    void onDeleting() {
        generation.incrementAndGet();
    }

    /** Call it when the leaders of all partitions serve the topic of this name that was created last. */
    void onCreatedAnew(int count) {
        partitions = count;
        generation.incrementAndGet();
    }

    /** Call it when a replica that was not in sync leads a partition. */
    void onUncleanElection(int partition, long nowMs) {
        uncleanMs.put(partition, nowMs);
    }

    TopicTerms terms() {
        return switch (kind) {
            case KEPT, BACKFILL, REFUSING, SOLE -> TopicTerms.kept();
            case UNCLEAN -> TopicTerms.unclean(uncleanMs);
            case CHURNED -> TopicTerms.createdAnew(generation.get());
        };
    }
}
