package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes topics ready on the target, at most as many as one request may name: creates those that are missing, adds
 * partitions, and waits for leaders. A topic that fails does not hold up the others. Topics have their source names
 * here, except in requests to the target.
 *
 * <p><b>Threads:</b> one; an object is used once.
 */
final class TopicPreparation {
    private static final Logger LOG = LoggerFactory.getLogger(TopicPreparation.class);
    /** Above this number, topics are counted rather than named. */
    private static final int TOLD_ONE_BY_ONE = 20;

    private final Admin source;
    private final Admin target;
    private final TopicNames names;
    private final Set<String> ownSettings;
    private final Map<String, MirrorException> failures = new TreeMap<>();
    private final Map<String, Ready> ready = new HashMap<>();
    private final List<String> created = new ArrayList<>();
    private final Predicate<String> isCopied;
    private final Set<String> lost = new HashSet<>();
    private final Map<String, Uuid> ids = new HashMap<>();

    /**
     * A topic that is ready on the target.
     *
     * @param id zero if unknown
     */
    record Ready(int partitions, Uuid id) {}

    /**
     * @param ownSettings names of settings that the target keeps as they are
     * @param isCopied whether the target must have a topic, so that it is not created
     */
    TopicPreparation(Admin source, CopiesOnTarget copies, Set<String> ownSettings, Predicate<String> isCopied) {
        this.isCopied = isCopied;
        this.source = source;
        this.target = copies.target();
        this.names = copies.names();
        this.ownSettings = ownSettings;
    }

    Map<String, Ready> ready() {
        return ready;
    }

    /** Returns the topics that the target must have but lacks. */
    Set<String> lost() {
        return lost;
    }

    /** Returns why other topics are not ready; leaves out lost topics and topics that the source lacks. */
    Map<String, MirrorException> failures() {
        return failures;
    }

    /** Whether nothing can be done for now because a cluster does not answer. */
    boolean isUnavailable() {
        return ready.isEmpty()
                && lost.isEmpty()
                && !failures.isEmpty()
                && failures.values().stream().allMatch(MirrorException::isTemporary);
    }

    List<String> created() {
        return created;
    }

    /**
     * Makes the topics ready. Blocks for as long as the clusters take to answer, up to the time-outs of their clients.
     */
    void run(Collection<String> topics) {
        Map<String, Integer> wanted = countPartitions(source, topics, topic -> topic);
        Map<String, Integer> present = countPartitions(target, wanted.keySet(), names::onTarget);
        wanted.keySet().removeAll(failures.keySet());
        Map<String, Integer> missing = new HashMap<>(wanted);
        missing.keySet().removeAll(present.keySet());
        Set<String> withheld = missing.keySet().stream().filter(isCopied).collect(Collectors.toSet());
        missing.keySet().removeAll(withheld);
        wanted.keySet().removeAll(withheld);
        confirmLost(withheld);
        refuseCircles(missing);
        create(missing);
        present.keySet().retainAll(wanted.keySet());
        Map<String, Integer> smaller = new HashMap<>(present);
        smaller.entrySet().removeIf(topic -> topic.getValue() >= wanted.get(topic.getKey()));
        grow(smaller, wanted);
        awaitLeaders(missing);
        smaller.keySet().forEach(topic -> smaller.put(topic, wanted.get(topic)));
        awaitLeaders(smaller);
        requireWritable(wanted.keySet());
        wanted.forEach((topic, count) -> {
            if (!failures.containsKey(topic)) {
                ready.put(
                        topic,
                        new Ready(
                                Math.max(count, present.getOrDefault(topic, 0)),
                                ids.getOrDefault(topic, Uuid.ZERO_UUID)));
            }
        });
    }

    /** Only new topics can close a circle: nothing new can come from topics that the target already has. */
    private void refuseCircles(Map<String, Integer> missing) {
        Map<String, List<String>> origins = new HashMap<>();
        missing.keySet().forEach(topic -> origins.put(topic, names.mayHaveComeRoundFrom(topic)));
        origins.values().removeIf(List::isEmpty);
        try {
            Set<String> existing = Clusters.describe(
                            source,
                            origins.values().stream().flatMap(List::stream).collect(Collectors.toSet()))
                    .keySet();
            origins.forEach((topic, from) -> from.stream()
                    .filter(existing::contains)
                    .findFirst()
                    .ifPresent(origin ->
                            failures.put(topic, MirrorException.ofName(names.refusalOfCircle(topic, origin)))));
        } catch (KafkaException e) {
            origins.keySet().forEach(topic -> fail(topic, e));
        }
        missing.keySet().removeAll(failures.keySet());
    }

    /** Asks the controller whether a topic exists, since a lagging broker may not know the topic yet. */
    private void confirmLost(Set<String> missing) {
        List<NewTopic> topics = missing.stream()
                .map(topic -> new NewTopic(names.onTarget(topic), Optional.of(1), Optional.empty()))
                .toList();
        if (topics.isEmpty()) {
            return;
        }
        Map<String, KafkaFuture<Void>> answers = target.createTopics(
                        topics, new CreateTopicsOptions().validateOnly(true))
                .values();
        for (String topic : missing) {
            try {
                Clusters.await(answers.get(names.onTarget(topic)));
                lost.add(topic);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RetriableException) {
                    fail(topic, e.getCause());
                } else if (!(e.getCause() instanceof TopicExistsException)) {
                    lost.add(topic); // the name would be refused, but not because the topic exists
                }
            }
        }
    }

    /**
     * Returns the partition counts of those of the topics that the cluster has.
     *
     * @param name what a topic is called there
     */
    private Map<String, Integer> countPartitions(Admin cluster, Collection<String> topics, UnaryOperator<String> name) {
        Map<String, Integer> counts = new HashMap<>();
        if (topics.isEmpty()) {
            return counts;
        }
        Map<String, KafkaFuture<TopicDescription>> answers =
                cluster.describeTopics(topics.stream().map(name).toList()).topicNameValues();
        topics.forEach(topic -> {
            try {
                TopicDescription description = Clusters.await(answers.get(name.apply(topic)));
                counts.put(topic, description.partitions().size());
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                    fail(topic, e.getCause());
                }
            }
        });
        return counts;
    }

    private void create(Map<String, Integer> missing) {
        Map<String, Config> settings = readSettings(missing.keySet());
        List<NewTopic> topics = new ArrayList<>();
        settings.forEach((topic, config) ->
                topics.add(new NewTopic(names.onTarget(topic), Optional.of(missing.get(topic)), Optional.empty())
                        .configs(TopicSettings.toCopy(config, ownSettings))));
        if (topics.isEmpty()) {
            return;
        }
        Map<String, KafkaFuture<Void>> answers = target.createTopics(topics).values();
        settings.forEach((topic, config) -> {
            try {
                KafkaFuture<Void> answer = answers.get(names.onTarget(topic));
                onCreated(topic, missing.get(topic), config, create(topic, answer, missing.get(topic), config));
            } catch (MirrorException e) {
                failures.put(topic, e);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof TopicAuthorizationException) {
                    failures.put(
                            topic,
                            MirrorException.failed(
                                    "Topic " + names.onTarget(topic) + " is missing on the target, and the"
                                            + " mirror may not create it; allow Create there, or create it yourself"));
                } else if (!(e.getCause() instanceof TopicExistsException)) {
                    fail(topic, e.getCause());
                } // Another mirror created it first, with the same partitions.
            }
        });
        if (created.size() > TOLD_ONE_BY_ONE) {
            LOG.info(
                    "Created {} on the target, with the partitions and settings of the source",
                    Words.count(created.size(), "topic"));
        }
    }

    /** Takes the answer to a creation. Retries in other forms what was refused because of its form. */
    private Map<String, String> create(String topic, KafkaFuture<Void> answer, int partitions, Config settings)
            throws ExecutionException {
        Map<String, String> wanted = TopicSettings.toCopy(settings, ownSettings);
        try {
            Clusters.await(answer);
            return wanted;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof InvalidConfigurationException
                    || e.getCause() instanceof PolicyViolationException
                    || e.getCause() instanceof UnsupportedVersionException) {
                return new TopicCreator(target).create(names.onTarget(topic), partitions, wanted);
            }
            throw e;
        }
    }

    private void onCreated(String topic, int partitions, Config settings, Map<String, String> taken) {
        created.add(topic);
        if (created.size() <= TOLD_ONE_BY_ONE) {
            LOG.info(
                    "Created topic {} on the target, {}, with {}; left to the target: {}",
                    names.onTarget(topic),
                    Words.count(partitions, "partition"),
                    taken,
                    TopicSettings.toLeave(settings, ownSettings));
        }
    }

    private Map<String, Config> readSettings(Collection<String> topics) {
        Map<String, Config> settings = new HashMap<>();
        Clusters.topicConfigs(source, topics).forEach((topic, answer) -> {
            try {
                settings.put(topic, Clusters.await(answer));
            } catch (ExecutionException e) {
                if (e.getCause() instanceof TopicAuthorizationException) {
                    failures.put(
                            topic,
                            MirrorException.failed("Topic " + topic + " is missing on the target, and the mirror may"
                                    + " not read its settings on the source; allow DescribeConfigs there, or create the"
                                    + " topic yourself"));
                } else {
                    fail(topic, e.getCause());
                }
            }
        });
        return settings;
    }

    private void grow(Map<String, Integer> present, Map<String, Integer> wanted) {
        Map<String, NewPartitions> more = new HashMap<>();
        present.keySet().forEach(topic -> more.put(names.onTarget(topic), NewPartitions.increaseTo(wanted.get(topic))));
        if (more.isEmpty()) {
            return;
        }
        Map<String, KafkaFuture<Void>> answers = target.createPartitions(more).values();
        present.forEach((topic, from) -> {
            int to = wanted.get(topic);
            String name = names.onTarget(topic);
            try {
                Clusters.await(answers.get(name));
                LOG.info("Topic {} on the target grew from {} to {} partitions, like the source", name, from, to);
            } catch (ExecutionException e) {
                int now =
                        countPartitions(target, List.of(topic), names::onTarget).getOrDefault(topic, from);
                if (e.getCause() instanceof TopicAuthorizationException) {
                    failures.put(
                            topic,
                            MirrorException.failed("Topic " + name + " has " + from + " of " + to
                                    + " partitions on the target, and the mirror may not add any; allow Alter there, or"
                                    + " add them yourself"));
                } else if (!(e.getCause() instanceof InvalidPartitionsException) || now < to) {
                    fail(topic, e.getCause());
                } // Another mirror added them first.
            }
        });
    }

    /**
     * Checks that the mirror may write to the topics, and learns their ids. A producer that may write to no topic gets
     * no producer id, and then nothing is sent that the target could refuse.
     */
    private void requireWritable(Collection<String> topics) {
        if (topics.isEmpty()) {
            return;
        }
        Map<String, KafkaFuture<TopicDescription>> answers = target.describeTopics(
                        topics.stream().map(names::onTarget).toList(),
                        new DescribeTopicsOptions().includeAuthorizedOperations(true))
                .topicNameValues();
        topics.forEach(topic -> {
            String name = names.onTarget(topic);
            try {
                TopicDescription description = Clusters.await(answers.get(name));
                ids.put(topic, description.topicId());
                Set<AclOperation> allowed = description.authorizedOperations();
                if (allowed != null && !allowed.isEmpty() && !allowed.contains(AclOperation.WRITE)) {
                    failures.putIfAbsent(
                            topic,
                            MirrorException.failed(
                                    "The mirror may not write to topic " + name + " on the target; allow Write there"));
                }
            } catch (ExecutionException e) {
                LOG.debug("Cannot be asked whether the mirror may write to {}", name, e.getCause()); // fails later
            }
        });
    }

    /**
     * Waits for leaders. A leader that is not ready may refuse a producer's first batch and accept the second, and then
     * the stock producer's idempotence fails (KAFKA-15591).
     */
    private void awaitLeaders(Map<String, Integer> counts) {
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        counts.forEach((topic, count) -> {
            if (failures.containsKey(topic)) {
                return;
            }
            for (int partition = 0; partition < count; partition++) {
                ends.put(new TopicPartition(topic, partition), OffsetSpec.latest());
            }
        });
        if (ends.isEmpty()) {
            return;
        }
        ListOffsetsResult answers = target.listOffsets(names.onTarget(ends));
        for (TopicPartition partition : ends.keySet()) {
            try {
                Clusters.await(answers.partitionResult(names.onTarget(partition)));
            } catch (ExecutionException e) {
                fail(partition.topic(), e.getCause());
            }
        }
    }

    private void fail(String topic, Throwable cause) {
        failures.putIfAbsent(
                topic,
                MirrorException.failed(
                        "Could not make topic " + names.onTarget(topic) + " ready on the target", cause));
    }
}
