package dev.millrace.mirror.support;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;

/**
 * Moves the leaders of a topic, whose replicas are on all brokers of the cluster, again and again to the next broker.
 *
 * <p><b>Threads:</b> any; it has one of its own.
 */
public final class MovingLeaders implements AutoCloseable {
    private static final long PAUSE_NANOS = 700_000_000;

    private final KafkaCluster cluster;
    private final String topic;
    private final int partitions;
    private final AtomicLong moves = new AtomicLong();
    private final Thread thread = new Thread(this::move, "moving-leaders");
    private volatile boolean isStopped;

    /** Creates the topic, with replicas on all brokers. */
    public MovingLeaders(KafkaCluster cluster, String topic, int partitions, Map<String, String> settings) {
        this.cluster = cluster;
        this.topic = topic;
        this.partitions = partitions;
        cluster.createTopic(topic, orders(0), settings);
        thread.start();
    }

    private void move() {
        for (int round = 1; !isStopped; round++) {
            long begin = System.nanoTime();
            Map<TopicPartition, Optional<NewPartitionReassignment>> wanted = new HashMap<>();
            orders(round)
                    .forEach((partition, order) -> wanted.put(
                            new TopicPartition(topic, partition), Optional.of(new NewPartitionReassignment(order))));
            try {
                cluster.admin().alterPartitionReassignments(wanted).all().get();
                cluster.admin()
                        .electLeaders(ElectionType.PREFERRED, wanted.keySet())
                        .all()
                        .get();
                moves.addAndGet(partitions);
            } catch (ExecutionException e) {
                // A follower may not be in sync at the moment; the next round tries again.
            } catch (InterruptedException e) {
                return;
            }
            // On a machine too slow for its brokers, nobody else could find a leader before it moves again.
            LockSupport.parkNanos(Math.max(PAUSE_NANOS, 3 * (System.nanoTime() - begin)));
        }
    }

    /** Returns the order of each partition's replicas, whose first one is to lead. */
    private Map<Integer, List<Integer>> orders(int round) {
        int brokers = cluster.brokers();
        return IntStream.range(0, partitions).boxed().collect(Collectors.toMap(partition -> partition, partition -> {
            int first = (partition + round) % brokers;
            return Stream.iterate(first, next -> (next + 1) % brokers)
                    .limit(brokers)
                    .map(index -> index + 1)
                    .toList();
        }));
    }

    /** Returns how many leaders have moved so far. */
    public long moves() {
        return moves.get();
    }

    @Override
    public void close() {
        isStopped = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
