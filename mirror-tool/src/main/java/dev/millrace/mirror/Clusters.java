package dev.millrace.mirror;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;

/** The questions a mirror asks before it starts, so that what is wrong is said at once and in one line. */
final class Clusters {
    private static final int ANSWER_TIMEOUT_MS = 7_000;
    private static final int SHOWN_NAMES = 5;

    private Clusters() {}

    /**
     * A client of a cluster that has answered. Blocks for at most about 7 s, and a little more to give up.
     *
     * @param role what the cluster is to the mirror, for messages
     * @throws MirrorException naming the address when it does not answer
     */
    static Admin connect(String role, Map<String, Object> config) {
        Object address = config.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
        Map<String, Object> impatient = new HashMap<>(config);
        impatient.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_TIMEOUT_MS);
        impatient.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_TIMEOUT_MS / 2);
        return Logs.quietly(() -> {
            try (Admin probe = Admin.create(impatient)) {
                answer(probe.describeCluster().clusterId());
                return Admin.create(config);
            } catch (TimeoutException e) {
                throw MirrorException.failed("The " + role + " cluster at " + address + " does not answer within "
                        + ANSWER_TIMEOUT_MS / 1000 + " s; is it running, and is this the address of its listener?");
            } catch (KafkaException e) {
                throw MirrorException.failed("Cannot connect to the " + role + " cluster at " + address, e);
            }
        });
    }

    /**
     * Refuses to mirror a cluster to itself.
     *
     * @throws MirrorException when both clients see the same cluster
     */
    static void checkDistinct(Admin source, Admin target) {
        String id = answer(source.describeCluster().clusterId());
        if (id != null && id.equals(answer(target.describeCluster().clusterId()))) {
            throw MirrorException.failed("Source and target are the same cluster, " + id
                    + "; the mirror would read what it writes, without end");
        }
    }

    /**
     * The topics of the source to mirror, at least one.
     *
     * @throws MirrorException when there is none
     */
    static Set<String> matching(Admin source, Pattern topics) {
        Set<String> all = new TreeSet<>(answer(source.listTopics().names()));
        Set<String> matching = new TreeSet<>(all);
        matching.removeIf(withoutInternal(topics).asMatchPredicate().negate());
        if (matching.isEmpty()) {
            String names = all.stream().limit(SHOWN_NAMES).collect(Collectors.joining(", "));
            String some = all.isEmpty() ? "" : ": " + names + (all.size() > SHOWN_NAMES ? ", ..." : "");
            throw MirrorException.failed("--topics '" + topics + "' matches none of the source's "
                    + Words.count(all.size(), "topic") + some + "; it must match a whole name");
        }
        return matching;
    }

    /**
     * The offset after the last record of each partition of a topic. Waits, up to the client's time-out, until the
     * leaders of all partitions serve them, which takes a moment when they are new.
     */
    static Map<TopicPartition, Long> endOffsets(Admin cluster, String topic, int partitions) {
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            latest.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        Map<TopicPartition, Long> ends = new HashMap<>();
        answer(cluster.listOffsets(latest).all()).forEach((partition, end) -> ends.put(partition, end.offset()));
        return ends;
    }

    /** The pattern, made to leave out the topics a cluster keeps for itself. */
    static Pattern withoutInternal(Pattern topics) {
        return Pattern.compile("(?!__)(?:" + topics.pattern() + ")", topics.flags());
    }

    private static <T> T answer(KafkaFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException known ? known : new KafkaException(e.getCause());
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }
}
