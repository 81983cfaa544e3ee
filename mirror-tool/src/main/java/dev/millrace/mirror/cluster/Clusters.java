package dev.millrace.mirror.cluster;

import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks clusters through an admin client, so that a mirror reports problems before it starts. */
public final class Clusters {
    /** By topics, then by numbers. */
    public static final Comparator<TopicPartition> PARTITION_ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    private static final Logger LOG = LoggerFactory.getLogger(Clusters.class);
    private static final int ANSWER_TIMEOUT_MS = 7_000;
    private static final int LEADER_TIMEOUT_MS = 2_000;
    private static final int TOPICS_PER_REQUEST = 200;

    private Clusters() {}

    /**
     * Returns a client of a cluster, after the cluster has answered. Blocks for at most about 7 s, and as long as
     * closing takes.
     *
     * @param role "source" or "target", for messages
     * @throws MirrorException naming the address when it does not answer
     */
    public static Admin connect(String role, Map<String, Object> config) {
        Object address = config.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
        Map<String, Object> probeConfig = new HashMap<>(config);
        probeConfig.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_TIMEOUT_MS);
        probeConfig.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_TIMEOUT_MS / 2);
        return KafkaLogs.callSilently(() -> {
            try (Admin probe = Admin.create(probeConfig)) {
                awaitUnchecked(probe.describeCluster().clusterId());
                return Admin.create(config);
            } catch (TimeoutException e) {
                throw MirrorException.temporary("The " + role + " cluster at " + address + " does not answer within "
                        + ANSWER_TIMEOUT_MS / 1000 + " s; is it running, and is this the address of its listener?");
            } catch (KafkaException e) {
                throw MirrorException.failed("Cannot connect to the " + role + " cluster at " + address, e);
            }
        });
    }

    /**
     * Checks that source and target are different clusters.
     *
     * @throws MirrorException when both ids are the same
     */
    public static void checkDistinct(String sourceId, String targetId) {
        if (sourceId.equals(targetId)) {
            throw MirrorException.failed("Source and target are the same cluster, " + sourceId
                    + "; the mirror would read what it writes, without end");
        }
    }

    /**
     * Returns the cluster's id, which does not depend on the address the client uses.
     *
     * @param config of the client; its address is returned if the cluster has no id
     */
    public static String clusterId(Admin cluster, Map<String, Object> config) {
        String id = awaitUnchecked(cluster.describeCluster().clusterId());
        return id != null
                ? id
                : config.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG).toString();
    }

    /** Returns the partition counts of those of the topics that the cluster has. */
    public static Map<String, Integer> partitionCounts(Admin cluster, Collection<String> topics) {
        Map<String, Integer> counts = new HashMap<>();
        describe(cluster, topics)
                .forEach((topic, description) ->
                        counts.put(topic, description.partitions().size()));
        return counts;
    }

    /**
     * Returns the offset after the last record of each partition of a topic. Waits, up to the client's time-out, until
     * all partitions have a leader that answers, which takes a moment for new partitions.
     */
    public static Map<TopicPartition, Long> endOffsets(Admin cluster, String topic, int partitions) {
        return offsets(cluster, partitions(topic, partitions), OffsetSpec.latest());
    }

    /** Returns an offset of each partition; all of them must exist. */
    public static Map<TopicPartition, Long> offsets(
            Admin cluster, Collection<TopicPartition> partitions, OffsetSpec which) {
        return offsets(cluster, partitions, which, IsolationLevel.READ_UNCOMMITTED);
    }

    /** Returns an offset of each partition as a consumer with this isolation level sees it; all of them must exist. */
    public static Map<TopicPartition, Long> offsets(
            Admin cluster, Collection<TopicPartition> partitions, OffsetSpec which, IsolationLevel isolation) {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        awaitUnchecked(cluster.listOffsets(specs(partitions, which), new ListOffsetsOptions(isolation))
                        .all())
                .forEach((partition, info) -> offsets.put(partition, info.offset()));
        return offsets;
    }

    /**
     * Returns an offset of each of those partitions whose leader answers within 2 s.
     *
     * @throws RetriableException if none does
     */
    public static Map<TopicPartition, Long> offsetsOfLed(
            Admin cluster, Collection<TopicPartition> partitions, OffsetSpec which) {
        ListOffsetsResult answers =
                cluster.listOffsets(specs(partitions, which), new ListOffsetsOptions().timeoutMs(LEADER_TIMEOUT_MS));
        Map<TopicPartition, Long> offsets = new HashMap<>();
        RetriableException last = null;
        for (TopicPartition partition : partitions) {
            try {
                offsets.put(
                        partition,
                        awaitUnchecked(answers.partitionResult(partition)).offset());
            } catch (RetriableException e) {
                LOG.debug("{} has no leader that answers", partition, e);
                last = e;
            }
        }
        if (offsets.isEmpty() && last != null) {
            throw last;
        }
        return offsets;
    }

    /** Returns the same question for each partition. */
    public static Map<TopicPartition, OffsetSpec> specs(Collection<TopicPartition> partitions, OffsetSpec which) {
        Map<TopicPartition, OffsetSpec> specs = new HashMap<>();
        partitions.forEach(partition -> specs.put(partition, which));
        return specs;
    }

    /** Returns those of the partitions that the cluster has. */
    public static Set<TopicPartition> existing(Admin cluster, Collection<TopicPartition> partitions) {
        Set<String> topics = topics(partitions);
        topics.retainAll(awaitUnchecked(cluster.listTopics().names()));
        Set<TopicPartition> existing = new HashSet<>();
        awaitUnchecked(cluster.describeTopics(topics).allTopicNames())
                .forEach((topic, description) -> existing.addAll(
                        partitions(topic, description.partitions().size())));
        existing.retainAll(partitions);
        return existing;
    }

    /** Describes those of the topics that the cluster has. Asks about some hundred at a time. */
    public static Map<String, TopicDescription> describe(Admin cluster, Collection<String> topics) {
        return describe(cluster, topics, new DescribeTopicsOptions());
    }

    private static Map<String, TopicDescription> describe(
            Admin cluster, Collection<String> topics, DescribeTopicsOptions options) {
        Map<String, TopicDescription> found = new HashMap<>();
        for (List<String> batch : batches(topics)) {
            cluster.describeTopics(batch, options).topicNameValues().forEach((topic, answer) -> {
                try {
                    found.put(topic, awaitUnchecked(answer));
                } catch (UnknownTopicOrPartitionException e) {
                    LOG.debug("The cluster does not have topic {}", topic);
                }
            });
        }
        return found;
    }

    /** Returns the ids of those of the topics that the cluster has; zero if it gives none. */
    public static Map<String, Uuid> topicIds(Admin cluster, Collection<String> topics) {
        return topicIds(cluster, topics, new DescribeTopicsOptions());
    }

    /**
     * Does the same as {@link #topicIds} for members of the group, which must poll: waits at most 7 s for each answer.
     */
    public static Map<String, Uuid> topicIdsInTime(Admin cluster, Collection<String> topics) {
        return topicIds(cluster, topics, new DescribeTopicsOptions().timeoutMs(ANSWER_TIMEOUT_MS));
    }

    private static Map<String, Uuid> topicIds(Admin cluster, Collection<String> topics, DescribeTopicsOptions options) {
        Map<String, Uuid> ids = new HashMap<>();
        describe(cluster, topics, options).forEach((topic, description) -> ids.put(topic, description.topicId()));
        return ids;
    }

    /** Returns the ids of their topics for all partitions of those of the topics that the cluster has. */
    public static Map<TopicPartition, Uuid> topicIdsByPartition(Admin cluster, Collection<String> topics) {
        Map<TopicPartition, Uuid> ids = new HashMap<>();
        describe(cluster, topics)
                .forEach((topic, description) -> partitions(
                                topic, description.partitions().size())
                        .forEach(partition -> ids.put(partition, description.topicId())));
        return ids;
    }

    /** Divides the elements, in order, into lists that fit one request. */
    public static <T> List<List<T>> batches(Collection<T> all) {
        return batches(all, TOPICS_PER_REQUEST);
    }

    /** Divides the elements, in order, into lists of at most this many. */
    public static <T> List<List<T>> batches(Collection<T> all, int most) {
        List<T> list = List.copyOf(all);
        List<List<T>> batches = new ArrayList<>();
        for (int start = 0; start < list.size(); start += most) {
            batches.add(list.subList(start, Math.min(list.size(), start + most)));
        }
        return batches;
    }

    /** Returns the topics of these partitions. */
    public static Set<String> topics(Collection<TopicPartition> partitions) {
        return partitions.stream().map(TopicPartition::topic).collect(Collectors.toSet());
    }

    public static List<TopicPartition> partitions(String topic, int count) {
        return IntStream.range(0, count)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
    }

    /** Opens a consumer without a group for the cluster of this client configuration. */
    public static KafkaConsumer<byte[], byte[]> createReader(Map<String, Object> client) {
        // A mirror may have skipped aborted records or copied them. It has copied the committed ones in both cases.
        return createReader(client, "read_committed");
    }

    /** Opens such a consumer with an {@code isolation.level}. */
    public static KafkaConsumer<byte[], byte[]> createReader(Map<String, Object> client, Object isolation) {
        return new KafkaConsumer<>(
                DerivedConfigs.reader(client, isolation), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Returns a topic's settings, including the defaults of its brokers. */
    public static Config topicConfig(Admin cluster, String topic) throws ExecutionException {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return await(cluster.describeConfigs(List.of(resource)).values().get(resource));
    }

    /** Does the same as {@link #topicConfig} for several topics in one request. */
    public static Map<String, KafkaFuture<Config>> topicConfigs(Admin cluster, Collection<String> topics) {
        Map<String, KafkaFuture<Config>> configs = new HashMap<>();
        if (!topics.isEmpty()) {
            cluster.describeConfigs(topics.stream()
                            .map(topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic))
                            .toList())
                    .values()
                    .forEach((resource, config) -> configs.put(resource.name(), config));
        }
        return configs;
    }

    /** Returns the settings of any one of the brokers. */
    public static Config brokerConfig(Admin cluster) throws ExecutionException {
        String broker =
                await(cluster.describeCluster().nodes()).iterator().next().idString();
        ConfigResource resource = new ConfigResource(ConfigResource.Type.BROKER, broker);
        return await(cluster.describeConfigs(List.of(resource)).values().get(resource));
    }

    /** Returns the value of a setting; empty if the cluster does not tell it, as Kafka-compatible clusters may not. */
    public static Optional<String> setting(Config config, String name) {
        return Optional.ofNullable(config.get(name)).map(ConfigEntry::value);
    }

    /** Waits for a cluster's answer. For callers that continue when the cluster refuses; the cause says why. */
    public static <T> T await(KafkaFuture<T> future) throws ExecutionException {
        try {
            return future.get();
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /** Waits for a cluster's answer, and throws the cause as a {@link KafkaException} if the cluster refuses. */
    public static <T> T awaitUnchecked(KafkaFuture<T> future) {
        try {
            return await(future);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException known ? known : new KafkaException(e.getCause());
        }
    }
}
