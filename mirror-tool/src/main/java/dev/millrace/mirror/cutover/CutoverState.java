package dev.millrace.mirror.cutover;

import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.CompactedTopic;
import dev.millrace.mirror.topics.CutoverTopic;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.common.utils.Utils;

/**
 * What a cutover must still know when it is called again, from whatever machine: a compacted topic of the target with a
 * record for each ACL of the {@link Fence}, one while the direction is turned, one once it is, and one if the cutover
 * is done.
 *
 * <p><b>Threads:</b> one. All methods block while the target answers.
 */
final class CutoverState implements AutoCloseable {
    private static final String DENIAL = "denied ";
    private static final String DONE = "done";
    private static final int PARTITIONS = 1;

    private final CompactedTopic topic;
    private final Set<Denial> denials = new HashSet<>();
    private boolean isDone;
    private boolean isTurning;
    private boolean isTurned;

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
        isTurned = false;
        topic.read(any -> true)
                .orElse(Map.of())
                .keySet()
                .forEach(key -> take(new String(Utils.toArray(key), StandardCharsets.UTF_8)));
    }

    private void take(String key) {
        if (key.startsWith(DENIAL)) {
            String[] words = key.substring(DENIAL.length()).split(" ", 2); // a topic's name has no space
            denials.add(new Denial(words[0], words[1]));
        } else if (key.equals(DONE)) {
            isDone = true;
        } else if (key.equals(CutoverTopic.TURNING)) {
            isTurning = true;
        } else if (key.equals(CutoverTopic.TURNED)) {
            isTurned = true;
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

    void setDone(boolean done) {
        set(DONE, done);
        isDone = done;
    }

    /** Whether a cutover has begun to turn the direction, and was not seen to have done it. */
    boolean isTurning() {
        return isTurning;
    }

    void setTurning(boolean turning) {
        set(CutoverTopic.TURNING, turning);
        isTurning = turning;
    }

    /** Whether the mirror must not go on, because a cutover has kept the way back. */
    boolean isTurned() {
        return isTurned;
    }

    void setTurned(boolean turned) {
        set(CutoverTopic.TURNED, turned);
        isTurned = turned;
    }

    private void set(String flag, boolean isSet) {
        write(Set.of(flag), key -> key, key -> isSet ? new byte[0] : null);
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
