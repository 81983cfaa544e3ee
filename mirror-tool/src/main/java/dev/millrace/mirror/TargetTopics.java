package dev.millrace.mirror;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes sure that a partition exists on the target before a record is sent to it. Creates a missing topic with the
 * partition count and the {@link TopicSettings} of the source and with the target's default replication. Adds
 * partitions to a topic that has fewer than the source. Leaves the settings of an existing topic as they are, and warns
 * if the target would delete records by other rules.
 *
 * <p><b>Threads:</b> any. In a rebalance all consumer threads call at once, mostly for the same topics. The cache lets
 * one of them work on a topic while the others wait for its answer.
 * <p><b>Ordering:</b> Caffeine publishes what it computed to all threads that read it.
 */
final class TargetTopics implements TargetPartitions.Preparation {
    private static final Logger LOG = LoggerFactory.getLogger(TargetTopics.class);
    /** Limited, so that a topic that a user deletes is created again at the next assignment. */
    private static final Duration CACHE_TIME = Duration.ofMinutes(1);

    private final Admin source;
    private final Admin target;
    private final TopicCreator creator;
    /** Topics whose {@code cleanup.policy} has been compared already. */
    private final Set<String> compared = ConcurrentHashMap.newKeySet();

    private final Cache<String, Integer> partitions =
            Caffeine.newBuilder().expireAfterWrite(CACHE_TIME).build();

    TargetTopics(Admin source, Admin target) {
        this.source = source;
        this.target = target;
        this.creator = new TopicCreator(target);
    }

    /** Blocks for as long as the clusters take to answer, up to the time-outs of their clients. */
    @Override
    public boolean ensure(TopicPartition wanted) {
        Integer ready = partitions
                .asMap()
                .compute(
                        wanted.topic(),
                        (topic, known) ->
                                known != null && known > wanted.partition() ? known : createOrGrowOrNull(topic));
        return ready != null;
    }

    @Override
    public void forget(String topic) {
        partitions.invalidate(topic);
    }

    /** The number of partitions that the target has then; null if the source lacks the topic. */
    private Integer createOrGrowOrNull(String topic) {
        try {
            int wanted = countPartitions(source, topic).orElse(0);
            if (wanted == 0) {
                return null;
            }
            int before = countPartitions(target, topic).orElse(0);
            int present = before;
            if (present == 0) {
                present = create(topic, wanted);
            }
            if (present < wanted) {
                grow(topic, present, wanted);
            }
            if (before < wanted) {
                // Waits for leaders. A leader that is not ready may refuse a producer's first batch and accept the
                // second, and then the stock producer's idempotence fails (KAFKA-15591).
                Clusters.endOffsets(target, topic, wanted);
            }
            if (compared.add(topic)) {
                warnIfCleanupDiffers(topic);
            }
            return Math.max(present, wanted);
        } catch (ExecutionException e) {
            throw failure(topic, e.getCause());
        } catch (KafkaException e) {
            throw failure(topic, e);
        }
    }

    private int create(String topic, int count) throws ExecutionException {
        Config settings = readSettings(topic);
        try {
            Map<String, String> taken = creator.create(topic, count, TopicSettings.toCopy(settings));
            LOG.info(
                    "Created topic {} on the target, {}, with {}; left to the target: {}",
                    topic,
                    Words.count(count, "partition"),
                    taken,
                    TopicSettings.toLeave(settings));
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw e;
            } // Another mirror created it first, with the same partitions.
        }
        return count;
    }

    private Config readSettings(String topic) throws ExecutionException {
        try {
            return Clusters.topicConfig(source, topic);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TopicAuthorizationException) {
                throw MirrorException.failed("Topic " + topic + " is missing on the target, and the mirror may not read"
                        + " its settings on the source; allow DescribeConfigs there, or create the topic yourself");
            }
            throw e;
        }
    }

    /** A target that deletes by age or size what the source compacts would lose records. */
    private void warnIfCleanupDiffers(String topic) {
        try {
            Set<String> here = TopicSettings.cleanupPolicies(Clusters.topicConfig(source, topic));
            Set<String> there = TopicSettings.cleanupPolicies(Clusters.topicConfig(target, topic));
            if (!here.equals(there)) {
                LOG.warn(
                        "Topic {} has cleanup.policy {} on the source, but {} on the target, which may delete what the"
                                + " source keeps, or keep what it deletes",
                        topic,
                        here,
                        there);
            }
        } catch (ExecutionException e) {
            LOG.info("Cannot compare the cleanup.policy of topic {}: {}", topic, MirrorException.reason(e.getCause()));
        }
    }

    private void grow(String topic, int from, int to) throws ExecutionException {
        try {
            Clusters.await(target.createPartitions(Map.of(topic, NewPartitions.increaseTo(to)))
                    .all());
            LOG.info("Topic {} on the target grew from {} to {} partitions, like the source", topic, from, to);
        } catch (ExecutionException e) {
            Integer now = countPartitions(target, topic).orElse(from);
            if (!(e.getCause() instanceof InvalidPartitionsException) || now < to) {
                throw e;
            }
        }
    }

    private static Optional<Integer> countPartitions(Admin cluster, String topic) throws ExecutionException {
        try {
            return Optional.of(Clusters.await(cluster.describeTopics(List.of(topic))
                            .topicNameValues()
                            .get(topic))
                    .partitions()
                    .size());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static MirrorException failure(String topic, Throwable cause) {
        return MirrorException.failed("Could not make topic " + topic + " ready on the target", cause);
    }
}
