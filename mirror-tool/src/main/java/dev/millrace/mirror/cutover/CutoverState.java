package dev.millrace.mirror.cutover;

import dev.millrace.mirror.config.InternalTopics;
import dev.millrace.mirror.groups.OffsetMapReversal.Ends;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.CompactedTopic;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;

/**
 * What a cutover must still know when it is called again, from whatever machine: a compacted topic of the target with a
 * record for each ACL of the {@link Fence}, and for each partition with its ends at the cut.
 *
 * <p><b>Threads:</b> one. All methods block while the target answers.
 */
final class CutoverState implements AutoCloseable {
    private static final String DENIAL = "denied ";
    private static final String ENDS = "cut ";
    private static final int PARTITIONS = 1;

    private final CompactedTopic topic;
    private final Set<Denial> denials = new HashSet<>();
    private final Map<TopicPartition, Ends> cut = new HashMap<>();

    /** An ACL that denies a principal to write to a topic of the source. */
    record Denial(String topic, String principal) {}

    /** Knows nothing before {@link #read}. */
    CutoverState(BothClusters clusters) {
        this.topic = new CompactedTopic(
                topicName(clusters.group()), CompactedTopic.Home.target(clusters.target(), clusters.config()));
    }

    void read() {
        denials.clear();
        cut.clear();
        topic.read(any -> true).orElse(Map.of()).forEach((key, value) -> take(text(Utils.toArray(key)), text(value)));
    }

    static String topicName(String group) {
        return InternalTopics.ofGroup(InternalTopics.CUTOVER_PREFIX, group);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private void take(String key, String value) {
        if (key.startsWith(DENIAL)) {
            String[] words = key.substring(DENIAL.length()).split(" ", 2); // a topic's name has no space
            denials.add(new Denial(words[0], words[1]));
        } else if (key.startsWith(ENDS)) {
            int number = key.lastIndexOf('-');
            String[] ends = value.split(" ", 2);
            cut.put(
                    new TopicPartition(
                            key.substring(ENDS.length(), number), Integer.parseInt(key.substring(number + 1))),
                    new Ends(Long.parseLong(ends[0]), Long.parseLong(ends[1])));
        }
    }

    /** Creates the topic if it is missing. */
    void create() {
        topic.create(PARTITIONS);
    }

    boolean isEmpty() {
        return denials.isEmpty() && cut.isEmpty();
    }

    Set<Denial> denials() {
        return Set.copyOf(denials);
    }

    void addDenials(Collection<Denial> added) {
        write(added, denial -> DENIAL + denial.topic + " " + denial.principal, denial -> new byte[0]);
        denials.addAll(added);
    }

    void removeDenials(Collection<Denial> removed) {
        write(removed, denial -> DENIAL + denial.topic + " " + denial.principal, denial -> null);
        denials.removeAll(removed);
    }

    /** Returns where the logs ended at the last cut, by partitions of the source; empty if there was none. */
    Map<TopicPartition, Ends> cut() {
        return Map.copyOf(cut);
    }

    void setCut(Map<TopicPartition, Ends> ends) {
        Set<TopicPartition> gone = new HashSet<>(cut.keySet());
        gone.removeAll(ends.keySet());
        write(gone, partition -> ENDS + partition, partition -> null);
        write(
                ends.entrySet(),
                next -> ENDS + next.getKey(),
                next -> (next.getValue().source() + " " + next.getValue().target()).getBytes(StandardCharsets.UTF_8));
        cut.clear();
        cut.putAll(ends);
    }

    private <T> void write(Collection<T> all, Function<T, String> key, Function<T, byte[]> value) {
        Map<ByteBuffer, byte[]> values = new HashMap<>();
        all.forEach(next ->
                values.put(ByteBuffer.wrap(key.apply(next).getBytes(StandardCharsets.UTF_8)), value.apply(next)));
        if (topic.write(values, PARTITIONS).size() < values.size()) {
            throw MirrorException.failed(
                    "Topic " + topic.name() + " on the target does not take what the cutover has to remember");
        }
    }

    @Override
    public void close() {
        topic.close();
    }
}
