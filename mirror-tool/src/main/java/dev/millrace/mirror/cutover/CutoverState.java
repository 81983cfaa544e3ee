package dev.millrace.mirror.cutover;

import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.CompactedTopic;
import dev.millrace.mirror.topics.CutoverTopic;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * What a cutover must still know when it is called again, from whatever machine: a compacted topic of the target with a
 * record for each ACL of the {@link Fence}, one while the direction is turned, and one if the cutover is done.
 *
 * <p><b>Threads:</b> one. All methods block while the target answers.
 */
final class CutoverState implements AutoCloseable {
    private static final String DENIAL = "denied ";
    private static final String TURNING = "turning";
    private static final int PARTITIONS = 1;

    private final CompactedTopic topic;
    private final Set<Denial> denials = new HashSet<>();
    private boolean isDone;
    private boolean isTurning;

    /** An ACL that denies a principal to write to a topic of the source. */
    record Denial(String topic, String principal) {}

    /** Knows nothing before {@link #read}. */
    CutoverState(BothClusters clusters) {
        this.topic = CutoverTopic.of(clusters);
    }

    void read() {
        denials.clear();
        isDone = false;
        isTurning = false;
        topic.read(any -> true).orElse(Map.of()).keySet().forEach(key -> take(CutoverTopic.text(key)));
    }

    private void take(String key) {
        if (key.startsWith(DENIAL)) {
            String[] words = key.substring(DENIAL.length()).split(" ", 2); // a topic's name has no space
            denials.add(new Denial(words[0], words[1]));
        } else if (key.equals(CutoverTopic.DONE)) {
            isDone = true;
        } else if (key.equals(TURNING)) {
            isTurning = true;
        }
    }

    /** Creates the topic if it is missing. */
    void create() {
        topic.create(PARTITIONS);
    }

    Set<Denial> denials() {
        return Set.copyOf(denials);
    }

    private static String key(Denial denial) {
        return DENIAL + denial.topic + " " + denial.principal;
    }

    void addDenials(Collection<Denial> added) {
        write(added, CutoverState::key, denial -> new byte[0]);
        denials.addAll(added);
    }

    void removeDenials(Collection<Denial> removed) {
        write(removed, CutoverState::key, denial -> null);
        denials.removeAll(removed);
    }

    /** Whether the target is the cluster in use. */
    boolean isDone() {
        return isDone;
    }

    /** Notes that it is, and that the mirror still copies to it. */
    void setDone() {
        set(CutoverTopic.DONE, "");
        isDone = true;
    }

    /** Notes that it is, and that the mirror must not go on. */
    void setTurned() {
        set(CutoverTopic.DONE, CutoverTopic.TURNED);
        isDone = true;
        setTurning(false);
    }

    /** Notes that the source is the cluster in use, as before. */
    void setNotDone() {
        set(CutoverTopic.DONE, null);
        isDone = false;
    }

    /** Whether a cutover has begun to turn the direction, and was not seen to have done it. */
    boolean isTurning() {
        return isTurning;
    }

    void setTurning(boolean turning) {
        set(TURNING, turning ? "" : null);
        isTurning = turning;
    }

    /** @param value null if there is to be no such record */
    private void set(String key, String value) {
        write(Set.of(key), same -> same, any -> value == null ? null : CutoverTopic.bytes(value));
    }

    private <T> void write(Collection<T> all, Function<T, String> key, Function<T, byte[]> value) {
        Map<ByteBuffer, byte[]> values = new HashMap<>();
        all.forEach(next -> values.put(ByteBuffer.wrap(CutoverTopic.bytes(key.apply(next))), value.apply(next)));
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
