package dev.millrace.mirror;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * What a mirror with a configuration would do if it started now. Only asks both clusters, and has the target validate
 * what would be created; changes nothing.
 *
 * @param group where the mirror keeps its progress
 * @param isGroupOnTarget whether that is a group of the target
 * @param topics in order of their names
 */
public record MirrorPlan(
        String sourceId, String targetId, String group, boolean isGroupOnTarget, List<TopicPlan> topics) {
    /**
     * Makes the plan. Blocks while the clusters answer, up to the time-outs of their clients.
     *
     * @throws MirrorException when a cluster does not answer, both are the same, or no topic matches
     */
    public static MirrorPlan of(MirrorConfig config) {
        try (Admin source = Clusters.connect("source", DerivedConfigs.admin(config.consumer()));
                Admin target = Clusters.connect("target", DerivedConfigs.admin(config.producer()))) {
            return new Inquiry(config, source, target).plan();
        } catch (KafkaException e) {
            throw MirrorException.failed("Cannot plan", e);
        }
    }

    /** The questions of one plan. */
    private static final class Inquiry {
        private final MirrorConfig config;
        private final Admin source;
        private final Admin target;
        private final String sourceId;
        private final String targetId;

        Inquiry(MirrorConfig config, Admin source, Admin target) {
            this.config = config;
            this.source = source;
            this.target = target;
            sourceId = Clusters.clusterId(source, config.consumer());
            targetId = Clusters.clusterId(target, config.producer());
        }

        MirrorPlan plan() {
            Clusters.checkDistinct(sourceId, targetId);
            Map<TopicPartition, OffsetAndMetadata> positions = positions();
            List<TopicPlan> plans = new ArrayList<>();
            for (List<String> batch : Clusters.batches(Clusters.matchingTopics(source, config.topics()))) {
                Map<String, TopicDescription> here = new TreeMap<>(Clusters.describe(source, batch));
                Map<String, TopicDescription> there = Clusters.describe(target, here.keySet());
                Map<TopicPartition, Long> counts = new HashMap<>();
                Map<TopicPartition, Long> left = new HashMap<>();
                count(here.values(), positions, counts, left);
                Map<String, KafkaFuture<Config>> settings = Clusters.topicConfigs(source, here.keySet());
                Map<String, KafkaFuture<Config>> settingsThere = Clusters.topicConfigs(target, there.keySet());
                here.forEach((topic, description) -> {
                    List<String> notes = new ArrayList<>();
                    boolean isPossible = there.containsKey(topic)
                            ? compare(settings.get(topic), settingsThere.get(topic), notes)
                            : validate(description, settings.get(topic), notes);
                    plans.add(new TopicPlan(
                            topic,
                            description.partitions().size(),
                            there.containsKey(topic)
                                    ? there.get(topic).partitions().size()
                                    : 0,
                            sum(topic, counts),
                            sum(topic, left),
                            List.copyOf(notes),
                            isPossible));
                });
            }
            return new MirrorPlan(sourceId, targetId, group(), isOnTarget(), List.copyOf(plans));
        }

        private boolean isOnTarget() {
            return config.policies().resume() == ResumeMode.EXACTLY_ONCE;
        }

        private String group() {
            Object given = config.consumer().get(ConsumerConfig.GROUP_ID_CONFIG);
            if (given != null) {
                return given.toString();
            }
            return isOnTarget() ? MirrorGroup.defaultNameOnTarget(sourceId) : MirrorGroup.defaultName(targetId);
        }

        private Map<TopicPartition, OffsetAndMetadata> positions() {
            Map<TopicPartition, OffsetAndMetadata> positions =
                    new HashMap<>(Clusters.awaitUnchecked((isOnTarget() ? target : source)
                            .listConsumerGroupOffsets(group())
                            .partitionsToOffsetAndMetadata()));
            positions.values().removeIf(position -> position == null);
            return positions;
        }

        /** Counts offsets of each partition: all that the source holds, and those after the mirror's position. */
        private void count(
                Collection<TopicDescription> topics,
                Map<TopicPartition, OffsetAndMetadata> positions,
                Map<TopicPartition, Long> all,
                Map<TopicPartition, Long> left) {
            Map<TopicPartition, Uuid> ids = new HashMap<>();
            topics.forEach(topic -> IntStream.range(0, topic.partitions().size())
                    .forEach(partition -> ids.put(new TopicPartition(topic.name(), partition), topic.topicId())));
            Map<TopicPartition, Long> starts = Clusters.offsets(source, ids.keySet(), OffsetSpec.earliest());
            Map<TopicPartition, Long> ends = Clusters.offsets(source, ids.keySet(), OffsetSpec.latest());
            ids.forEach((partition, id) -> {
                long start = starts.get(partition);
                long end = ends.get(partition);
                all.put(partition, end - start);
                left.put(partition, end - next(positions.get(partition), id, start, end));
            });
        }

        /** The offset where the mirror goes on. */
        private long next(OffsetAndMetadata positionOrNull, Uuid topicId, long start, long end) {
            if (positionOrNull == null) {
                boolean isLatest = "latest".equals(config.consumer().get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG));
                return isLatest ? end : start;
            }
            Uuid known = CommitMetadata.of(positionOrNull).topicId();
            boolean isOther =
                    !known.equals(Uuid.ZERO_UUID) && !topicId.equals(Uuid.ZERO_UUID) && !known.equals(topicId);
            return isOther ? start : Math.min(end, Math.max(start, positionOrNull.offset()));
        }

        private static long sum(String topic, Map<TopicPartition, Long> counts) {
            return counts.entrySet().stream()
                    .filter(count -> count.getKey().topic().equals(topic))
                    .mapToLong(Map.Entry::getValue)
                    .sum();
        }

        /** Notes what differs between the settings of a topic that both clusters have. */
        private static boolean compare(KafkaFuture<Config> here, KafkaFuture<Config> there, List<String> notes) {
            try {
                notes.addAll(TopicSettings.differences(Clusters.await(here), Clusters.await(there)));
            } catch (ExecutionException e) {
                notes.add("its settings cannot be compared: " + MirrorException.reason(e.getCause()));
            }
            return true;
        }

        /** Has the target validate a topic that it lacks. */
        private boolean validate(TopicDescription topic, KafkaFuture<Config> settings, List<String> notes) {
            try {
                Map<String, String> wanted = TopicSettings.toCopy(Clusters.await(settings));
                Map<String, String> accepted = new TopicCreator(target)
                        .findAcceptable(topic.name(), topic.partitions().size(), wanted);
                if (!accepted.isEmpty()) {
                    notes.add("with " + accepted);
                }
                wanted.keySet().removeAll(accepted.keySet());
                if (!wanted.isEmpty()) {
                    notes.add("without " + wanted + ", which the target refuses");
                }
                Map<String, String> left = TopicSettings.toLeave(Clusters.await(settings));
                if (!left.isEmpty()) {
                    notes.add("left to the target: " + left);
                }
                return true;
            } catch (ExecutionException e) {
                notes.add("cannot be created: " + MirrorException.reason(e.getCause()));
            } catch (MirrorException e) {
                notes.add(e.getMessage());
            }
            return false;
        }
    }
}
