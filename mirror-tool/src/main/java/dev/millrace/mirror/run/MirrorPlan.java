package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.LogSizes;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.PartitionSizes;
import dev.millrace.mirror.config.SyncedPart;
import dev.millrace.mirror.config.TargetLossPolicy;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.progress.FormerProgress;
import dev.millrace.mirror.progress.LogPlaces;
import dev.millrace.mirror.progress.MirrorPositions;
import dev.millrace.mirror.run.ExpectedRefusals.Stretch;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.LargestRecord;
import dev.millrace.mirror.topics.SettingsChanges;
import dev.millrace.mirror.topics.TopicCreator;
import dev.millrace.mirror.topics.TopicPlan;
import dev.millrace.mirror.topics.TopicSettings;
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
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * What a mirror with a given configuration would do if it started now. Making the plan only queries both clusters and
 * has the target validate what would be created; it changes nothing.
 *
 * @param group where the mirror keeps its progress
 * @param isGroupOnTarget whether that is a group of the target
 * @param obstacle what would prevent the start: a mirror in the opposite direction, or other names than before
 * @param warnings what an operator should consider before the start, each of one or more sentences
 * @param topics in order of their names
 */
public record MirrorPlan(
        String sourceId,
        String targetId,
        String group,
        boolean isGroupOnTarget,
        Optional<String> obstacle,
        List<String> warnings,
        List<TopicPlan> topics) {
    /** Returns whether a mirror could do all of it. */
    public boolean isPossible() {
        return obstacle.isEmpty() && topics.stream().allMatch(TopicPlan::isPossible);
    }

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

    /** Asks the questions of one plan. */
    private static final class Inquiry {
        private final MirrorConfig config;
        private final Admin source;
        private final Admin target;
        private final TopicNames names;
        private final CopiesOnTarget copies;
        private final PartitionSizes sizesHere;
        private final PartitionSizes sizesThere;
        private final String sourceId;
        private final String targetId;
        private final DirectionCheck direction;
        private final ExpectedRefusals refusals;

        Inquiry(MirrorConfig config, Admin source, Admin target) {
            this.config = config;
            this.source = source;
            this.target = target;
            names = config.names();
            copies = new CopiesOnTarget(target, names);
            sizesHere = new LogSizes("source", source);
            LogSizes ofTarget = new LogSizes("target", target);
            sizesThere = partitions -> names.onSource(ofTarget.of(names.onTarget(partitions)));
            sourceId = Clusters.clusterId(source, config.consumer());
            targetId = Clusters.clusterId(target, config.producer());
            direction = new DirectionCheck(source, target, config);
            refusals = new ExpectedRefusals(source, LargestRecord.of(config, target), System.currentTimeMillis());
        }

        MirrorPlan plan() {
            Clusters.checkDistinct(sourceId, targetId);
            Map<String, String> onTarget = new HashMap<>();
            Clusters.awaitUnchecked(target.listTopics(new ListTopicsOptions().listInternal(true))
                            .names())
                    .forEach(topic -> onTarget.put(asInMetrics(topic), topic));
            MirrorPositions committed = MirrorPositions.read(config, source, target, sourceId, targetId);
            MirrorPositions positions = committed.atStart(config, source, targetId);
            List<TopicPlan> plans = new ArrayList<>();
            long recordsThere = 0;
            Set<String> all = Clusters.awaitUnchecked(source.listTopics().names());
            MatchingTopics matching = MatchingTopics.ask(source, config);
            matching.refused().forEach((topic, why) -> plans.add(TopicPlan.refused(topic, why)));
            boolean isFirstStart = !positions.hasAny(matching.mirrored());
            for (List<String> batch : Clusters.batches(matching.mirrored())) {
                Map<String, TopicDescription> here = new TreeMap<>(Clusters.describe(source, batch));
                Map<String, TopicDescription> there = copies.describe(here.keySet());
                Map<TopicPartition, Long> counts = new HashMap<>();
                Map<TopicPartition, Stretch> stretches = new HashMap<>();
                Map<String, Long> lost = new HashMap<>();
                count(here.values(), there, positions, isFirstStart, counts, stretches, lost);
                PlannedTails tails = PlannedTails.find(config, copies, there, positions, stretches);
                Map<TopicPartition, Long> countsThere = countThere(stretches.keySet(), there);
                recordsThere +=
                        countsThere.values().stream().mapToLong(Long::longValue).sum();
                Map<TopicPartition, Long> bytes = sizesHere.of(counts.keySet());
                Map<TopicPartition, Long> bytesThere = sizesThere.of(counts.keySet());
                Map<String, KafkaFuture<Config>> settings = Clusters.topicConfigs(source, here.keySet());
                Map<String, KafkaFuture<Config>> settingsThere = copies.configs(there.keySet());
                Map<String, List<String>> allNotes = new HashMap<>();
                Map<String, Config> expected = new HashMap<>();
                Set<String> possible = new HashSet<>();
                here.forEach((topic, description) -> {
                    List<String> notes = new ArrayList<>();
                    allNotes.put(topic, notes);
                    noteLoss(lost.get(topic), there.containsKey(topic), notes);
                    tails.note(topic, notes);
                    boolean isPossible = there.containsKey(topic)
                            ? compare(topic, settings.get(topic), settingsThere.get(topic), expected, notes)
                            : hasNotComeRound(topic, all, notes)
                                    && hasFreeName(names.onTarget(topic), onTarget, notes)
                                    && validate(description, settings.get(topic), expected, notes);
                    if (isPossible) {
                        possible.add(topic);
                    }
                });
                refusals.ofTimestamps(expected, stretches)
                        .forEach((topic, refused) -> allNotes.get(topic).addAll(refused));
                here.forEach((topic, description) -> {
                    List<String> notes = allNotes.get(topic);
                    if (there.containsKey(topic)) {
                        compare(description, there.get(topic), positions, countsThere, notes);
                    }
                    notes.add(Words.bytes(sum(topic, bytes)) + " at the source, " + Words.bytes(sum(topic, bytesThere))
                            + " at the target");
                    plans.add(new TopicPlan(
                            topic,
                            description.partitions().size(),
                            there.containsKey(topic)
                                    ? there.get(topic).partitions().size()
                                    : 0,
                            sum(topic, counts),
                            stretches.entrySet().stream()
                                    .filter(stretch -> stretch.getKey().topic().equals(topic))
                                    .mapToLong(stretch -> stretch.getValue().length())
                                    .sum(),
                            List.copyOf(notes),
                            possible.contains(topic)));
                });
            }
            return new MirrorPlan(
                    sourceId,
                    targetId,
                    positions.group(),
                    positions.isGroupOnTarget(),
                    findObstacle(committed, matching.mirrored()),
                    warnings(positions, plans, recordsThere),
                    List.copyOf(plans));
        }

        private List<String> warnings(MirrorPositions positions, List<TopicPlan> plans, long recordsThere) {
            List<String> warnings = new ArrayList<>(direction.ofGroups(sourceId, targetId));
            if (positions.committed().isEmpty() && plans.stream().allMatch(topic -> topic.onTarget() > 0)) {
                warnings.addAll(DirectionCheck.ofRecords(
                        plans.stream().mapToLong(TopicPlan::records).sum(), recordsThere));
            }
            return List.copyOf(warnings);
        }

        /** Counts the target's records in each of the partitions that exist there and whose leader answers. */
        private Map<TopicPartition, Long> countThere(
                Set<TopicPartition> partitions, Map<String, TopicDescription> there) {
            List<TopicPartition> existing = partitions.stream()
                    .filter(partition -> there.containsKey(partition.topic())
                            && there.get(partition.topic()).partitions().size() > partition.partition())
                    .toList();
            Map<TopicPartition, Long> counts = new HashMap<>();
            Map<TopicPartition, Long> starts = copies.offsetsOfLed(existing, OffsetSpec.earliest());
            copies.offsetsOfLed(existing, OffsetSpec.latest()).forEach((partition, end) -> {
                if (starts.containsKey(partition)) {
                    counts.put(partition, end - starts.get(partition));
                }
            });
            return counts;
        }

        /**
         * Counts the source's offsets in each partition, finds the stretch after the mirror's position, and counts, by
         * topic, the offsets whose copies the target has lost.
         */
        private void count(
                Collection<TopicDescription> topics,
                Map<String, TopicDescription> there,
                MirrorPositions positions,
                boolean isFirstStart,
                Map<TopicPartition, Long> all,
                Map<TopicPartition, Stretch> left,
                Map<String, Long> lost) {
            Map<TopicPartition, Uuid> ids = new HashMap<>();
            topics.forEach(topic -> IntStream.range(0, topic.partitions().size())
                    .forEach(partition -> ids.put(new TopicPartition(topic.name(), partition), topic.topicId())));
            Map<TopicPartition, Long> starts = Clusters.offsets(source, ids.keySet(), OffsetSpec.earliest());
            Map<TopicPartition, Long> ends = Clusters.offsets(source, ids.keySet(), OffsetSpec.latest());
            Map<TopicPartition, Long> begins = isFirstStart
                    ? LogPlaces.find(config.policies().starts(), source, IsolationLevel.READ_UNCOMMITTED, starts, ends)
                    : starts;
            ids.forEach((partition, id) -> {
                long start = starts.get(partition);
                long end = ends.get(partition);
                all.put(partition, end - start);
                long position = positions.find(partition, id, start, end).orElse(begins.get(partition));
                if (positions.isLost(partition, Optional.ofNullable(there.get(partition.topic())))) {
                    lost.merge(partition.topic(), position - start, Long::sum);
                    position = switch (config.policies().onTargetLost()) {
                        case COPY_AGAIN -> start;
                        case STOP_PARTITION -> end;
                        case GO_ON -> position;
                    };
                }
                left.put(partition, new Stretch(position, end));
            });
        }

        private void noteLoss(Long recordsOrNull, boolean isThere, List<String> notes) {
            if (recordsOrNull != null) {
                TargetLossPolicy policy = config.policies().onTargetLost();
                notes.add((isThere ? "was created anew on the target" : "is gone from the target")
                        + ", and what was copied is lost there, " + Words.count(recordsOrNull, "record") + " at most; "
                        + switch (policy) {
                            case COPY_AGAIN -> "they are copied again";
                            case STOP_PARTITION -> "its partitions are stopped";
                            case GO_ON -> "only what comes next is copied";
                        }
                        + " (--on-target-lost " + policy + ")");
            }
        }

        private static long sum(String topic, Map<TopicPartition, Long> counts) {
            return counts.entrySet().stream()
                    .filter(count -> count.getKey().topic().equals(topic))
                    .mapToLong(Map.Entry::getValue)
                    .sum();
        }

        private Set<String> ownSettings() {
            return config.policies().sync().excludedSettings();
        }

        /** Notes how the settings of a topic that both clusters have differ. */
        private boolean compare(
                String topic,
                KafkaFuture<Config> here,
                KafkaFuture<Config> there,
                Map<String, Config> expected,
                List<String> notes) {
            try {
                expected.put(topic, Clusters.await(there));
                SettingsChanges changes =
                        SettingsChanges.between(Clusters.await(here), Clusters.await(there), ownSettings());
                if (config.policies().sync().parts().contains(SyncedPart.SETTINGS) && !changes.isEmpty()) {
                    notes.add("settings there: " + changes);
                }
                noteDifferences(Clusters.await(here), Clusters.await(there), notes);
            } catch (ExecutionException e) {
                notes.add("its settings cannot be compared: " + MirrorException.reason(e.getCause()));
            }
            return true;
        }

        private void noteDifferences(Config here, Config there, List<String> notes) {
            notes.addAll(TopicSettings.differences(here, there));
            notes.addAll(refusals.tooLarge(here, there));
        }

        /** Notes what the target has of a topic that the mirror has not written. */
        private static void compare(
                TopicDescription here,
                TopicDescription there,
                MirrorPositions positions,
                Map<TopicPartition, Long> countsThere,
                List<String> notes) {
            int more = there.partitions().size() - here.partitions().size();
            if (more > 0) {
                notes.add("the target has " + Words.count(there.partitions().size(), "partition")
                        + ": nothing is copied to the last " + more);
            }
            long before = IntStream.range(0, here.partitions().size())
                    .mapToObj(partition -> new TopicPartition(here.name(), partition))
                    .filter(partition -> !positions.committed().containsKey(partition))
                    .mapToLong(partition -> countsThere.getOrDefault(partition, 0L))
                    .sum();
            if (before > 0) {
                notes.add("the target has " + Words.count(before, "record") + " before the mirror's first: it has no"
                        + " position there, and copies everything after them");
            }
        }

        private boolean hasNotComeRound(String topic, Set<String> all, List<String> notes) {
            Optional<String> origin = names.mayHaveComeRoundFrom(topic).stream()
                    .filter(all::contains)
                    .findFirst();
            origin.ifPresent(from -> notes.add(names.refusalOfCircle(topic, from)));
            return origin.isEmpty();
        }

        /**
         * Kafka refuses a topic whose metric name would collide with that of another; validation does not report this.
         */
        private static boolean hasFreeName(String topic, Map<String, String> onTarget, List<String> notes) {
            String other = onTarget.get(asInMetrics(topic));
            if (other != null) {
                notes.add("cannot be created: the target has topic " + other
                        + ", and does not take two names that differ" + " only in '.' and '_'");
            }
            return other == null;
        }

        private static String asInMetrics(String topic) {
            return topic.replace('.', '_');
        }

        /** Returns what would prevent the mirror from starting. */
        private Optional<String> findObstacle(MirrorPositions positions, Set<String> topics) {
            boolean isOnTarget = positions.isGroupOnTarget();
            try (OppositeMirror opposite = new OppositeMirror(source, target, sourceId, targetId, config)) {
                opposite.check();
                new FormerProgress(config, targetId, positions.group(), isOnTarget).check(isOnTarget ? target : source);
                DirectionCheck.requireCutover(config, positions, topics);
                DirectionCheck.requireNotTurned(
                        new BothClusters(config, source, target, sourceId, targetId, positions.group()), positions);
                return Optional.empty();
            } catch (MirrorException e) {
                return Optional.of(e.getMessage());
            }
        }

        /** Has the target validate a topic that it lacks. */
        private boolean validate(
                TopicDescription topic,
                KafkaFuture<Config> settings,
                Map<String, Config> expected,
                List<String> notes) {
            try {
                Map<String, String> wanted = TopicSettings.toCopy(Clusters.await(settings), ownSettings());
                TopicCreator creator = new TopicCreator(target);
                String name = names.onTarget(topic.name());
                int partitions = topic.partitions().size();
                Map<String, String> accepted = new TreeMap<>(creator.findAcceptable(name, partitions, wanted));
                if (!accepted.isEmpty()) {
                    notes.add("with " + accepted);
                }
                wanted.keySet().removeAll(accepted.keySet());
                if (!wanted.isEmpty()) {
                    notes.add("without " + wanted + ", which the target refuses");
                }
                Map<String, String> left = TopicSettings.toLeave(Clusters.await(settings), ownSettings());
                if (!left.isEmpty()) {
                    notes.add("left to the target: " + left);
                }
                Optional<Config> there = creator.findSettings(name, partitions, accepted);
                if (there.isPresent()) {
                    expected.put(topic.name(), there.get());
                    noteDifferences(Clusters.await(settings), there.get(), notes);
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
