package dev.millrace.mirror.cluster;

import dev.millrace.mirror.config.PartitionSizes;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sizes of the logs of a cluster. Each call asks all brokers again; for a broker that does not answer, its last
 * answer counts.
 *
 * <p><b>Threads:</b> any.
 */
public final class LogSizes implements PartitionSizes {
    private static final Logger LOG = LoggerFactory.getLogger(LogSizes.class);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final String name;
    private final Admin cluster;
    private final Map<TopicPartition, Long> known = new ConcurrentHashMap<>();

    /** @param name of the cluster, for messages */
    public LogSizes(String name, Admin cluster) {
        this.name = name;
        this.cluster = cluster;
    }

    /** Returns the sizes. Blocks for about a second at most. */
    @Override
    public Map<TopicPartition, Long> of(Collection<TopicPartition> partitions) {
        try {
            ask(System.nanoTime() + PATIENCE_NANOS);
        } catch (ExecutionException | TimeoutException e) {
            String reason =
                    e.getCause() == null ? "no answer within 1 s" : e.getCause().toString();
            LOG.info(
                    "The {} does not tell the sizes of all partitions ({}), so only what is known of them, or their"
                            + " number, counts; with ACLs this takes Describe on the cluster",
                    name,
                    reason);
        }
        Map<TopicPartition, Long> sizes = new HashMap<>(known);
        sizes.keySet().retainAll(partitions);
        return sizes;
    }

    private void ask(long deadline) throws ExecutionException, TimeoutException {
        List<Integer> brokers = await(cluster.describeCluster().nodes(), deadline).stream()
                .map(Node::id)
                .toList();
        Map<TopicPartition, Long> sizes = new HashMap<>();
        try {
            for (KafkaFuture<Map<String, LogDirDescription>> answer :
                    cluster.describeLogDirs(brokers).descriptions().values()) {
                for (LogDirDescription folder : await(answer, deadline).values()) {
                    // Replicas differ for a moment; a new one has less than all others.
                    folder.replicaInfos()
                            .forEach((partition, replica) -> sizes.merge(partition, replica.size(), Math::max));
                }
            }
        } finally {
            known.putAll(sizes);
        }
    }

    private static <T> T await(KafkaFuture<T> future, long deadline) throws ExecutionException, TimeoutException {
        try {
            return future.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }
}
