package dev.millrace.weather;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * How far the mirror has committed what it has copied.
 *
 * <p><b>Threads:</b> any.
 */
final class CopiedProgress {
    private static final TopicPartition UNKNOWN = new TopicPartition("unknown", 0);

    private final Side source;
    private final Side target;
    private final Climate climate;

    CopiedProgress(Side source, Side target, Climate climate) {
        this.source = source;
        this.target = target;
        this.climate = climate;
    }

    /** Whether no transaction of the source is open, so that its end is where all readers find it. */
    boolean isDecided() {
        return inOpenTransactions(source, climate.topicNames()).isEmpty();
    }

    /** Where readers of committed records find the end of each partition of the source. */
    Map<TopicPartition, Long> ends() throws ExecutionException, TimeoutException {
        return ends(climate.topicNames());
    }

    private Map<TopicPartition, Long> ends(Collection<String> topics) throws ExecutionException, TimeoutException {
        return source.ends(source.partitions(topics), IsolationLevel.READ_COMMITTED);
    }

    /**
     * The same for those partitions of this topic of which something is copied and committed. A mirror that has committed
     * offset 0 has perhaps only begun, wherever the log begins.
     */
    Map<TopicPartition, Long> endsOfBegun(String topic) throws ExecutionException, TimeoutException {
        Map<TopicPartition, Long> committed = committed();
        return ends(List.of(topic)).entrySet().stream()
                .filter(end -> committed.getOrDefault(inGroup(end.getKey()), 0L) > 0)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /**
     * Whether it is known where the mirror begins in each partition: by the group on the source, or if the mirror may not
     * commit there, by its own.
     */
    boolean isPlaced() {
        try {
            Set<TopicPartition> unplaced = new HashSet<>(source.partitions(climate.topicNames()));
            unplaced.removeAll(source.committed(MirrorFleet.GROUP).keySet());
            Map<TopicPartition, Long> committed = committed();
            return unplaced.stream().allMatch(partition -> committed.containsKey(inGroup(partition)));
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    /** Which partitions are behind these ends, and how far. */
    Map<TopicPartition, String> behind(Map<TopicPartition, Long> ends) {
        Map<TopicPartition, String> behind = new TreeMap<>(Comparator.comparing(TopicPartition::toString));
        try {
            Map<TopicPartition, Long> committed = committed();
            ends.forEach((partition, end) -> {
                long position = committed.getOrDefault(inGroup(partition), 0L);
                if (position < end) {
                    behind.put(partition, position + " of " + end + " are committed");
                }
            });
        } catch (ExecutionException | TimeoutException e) {
            behind.put(UNKNOWN, "a cluster does not answer: " + e);
        }
        return behind;
    }

    /** Whether it is known that something of this topic is copied and committed. */
    boolean isBegun(String topic) {
        try {
            return !endsOfBegun(topic).isEmpty();
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    /** Whether it is known that a partition of this topic, of which something is copied, has records that are not. */
    boolean isBehind(String topic) {
        try {
            Map<TopicPartition, String> behind = behind(endsOfBegun(topic));
            return !behind.isEmpty() && !behind.containsKey(UNKNOWN);
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    /** Which partitions of the target have records that readers of committed records do not see yet. */
    Map<TopicPartition, String> inOpenTransactions() {
        return inOpenTransactions(
                target, climate.topicNames().stream().map(climate::copyOf).toList());
    }

    private static Map<TopicPartition, String> inOpenTransactions(Side side, Collection<String> topics) {
        Map<TopicPartition, String> open = new HashMap<>();
        try {
            List<TopicPartition> partitions = side.partitions(topics);
            Map<TopicPartition, Long> ends = side.ends(partitions, IsolationLevel.READ_UNCOMMITTED);
            side.ends(partitions, IsolationLevel.READ_COMMITTED).forEach((partition, end) -> {
                if (end < ends.get(partition)) {
                    open.put(partition, end + " of " + ends.get(partition) + " can be read");
                }
            });
        } catch (ExecutionException | TimeoutException e) {
            open.put(UNKNOWN, "the " + side + " does not answer: " + e);
        }
        return open;
    }

    /** Where some partitions of the source could go on, to copy again what is copied. */
    Map<TopicPartition, Long> earlier(Random random) throws ExecutionException, TimeoutException {
        Map<TopicPartition, Long> earlier = new HashMap<>();
        committed().forEach((inGroup, offset) -> {
            if (random.nextBoolean()) {
                TopicPartition partition = onSource(inGroup);
                long begin = source.begin(partition);
                earlier.put(partition, begin + (long) ((offset - begin) * random.nextDouble()));
            }
        });
        return earlier;
    }

    /** Commits these positions of partitions of the source, as an operator does. The mirror must not run. */
    void setBack(Map<TopicPartition, Long> earlier) throws ExecutionException, TimeoutException {
        home().commit(
                        MirrorFleet.GROUP,
                        earlier.entrySet().stream()
                                .collect(Collectors.toMap(next -> inGroup(next.getKey()), Map.Entry::getValue)));
    }

    private Map<TopicPartition, Long> committed() throws ExecutionException, TimeoutException {
        return home().committed(MirrorFleet.GROUP);
    }

    private Side home() {
        return climate.mirror().isExactlyOnce() ? target : source;
    }

    private TopicPartition onSource(TopicPartition inGroup) {
        return climate.mirror().isExactlyOnce()
                ? new TopicPartition(
                        inGroup.topic().substring(climate.mirror().prefix().length()), inGroup.partition())
                : inGroup;
    }

    /** With exactly once the progress is on the target, by the names there, so that it is deleted with a topic. */
    private TopicPartition inGroup(TopicPartition partition) {
        return climate.mirror().isExactlyOnce()
                ? new TopicPartition(climate.copyOf(partition.topic()), partition.partition())
                : partition;
    }
}
