package dev.millrace.mirror.mm2;

import dev.millrace.mirror.topics.CompactedTopic;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * A topic of MirrorMaker 2, in which the last value of each key counts; only changed values are written. A string
 * begins with its length in bytes, a 16-bit number.
 *
 * <p><b>Threads:</b> one at a time.
 */
final class Mm2Topic implements AutoCloseable {
    /** Its readers look into the first partition only. */
    private static final int PARTITIONS = 1;

    private final CompactedTopic topic;
    private final Map<ByteBuffer, byte[]> current = new HashMap<>();
    /** What was written, without partitions that another process has had since, which has written other values. */
    private final Map<ByteBuffer, byte[]> written = new HashMap<>();

    Mm2Topic(String name, CompactedTopic.Home home) {
        this.topic = new CompactedTopic(name, home);
    }

    /** Adds a value to be written. */
    void add(ByteBuffer key, byte[] value) {
        current.put(key, value);
    }

    /** Writes the changes among what was added since the last call. Blocks while the cluster takes it. */
    void write() {
        written.keySet().retainAll(current.keySet());
        Map<ByteBuffer, byte[]> changed = new HashMap<>(current);
        changed.entrySet().removeIf(next -> Arrays.equals(next.getValue(), written.get(next.getKey())));
        current.clear();
        topic.write(changed, PARTITIONS).forEach(key -> written.put(key, changed.get(key)));
    }

    /** Returns a key that ends with a partition, after other strings. */
    static ByteBuffer key(TopicPartition partition, String... before) {
        int length = Arrays.stream(before).mapToInt(Mm2Topic::sizeOf).sum();
        ByteBuffer key = ByteBuffer.allocate(length + sizeOf(partition.topic()) + Integer.BYTES);
        for (String text : before) {
            put(text, key);
        }
        put(partition.topic(), key);
        return key.putInt(partition.partition()).flip();
    }

    static int sizeOf(String text) {
        return Short.BYTES + text.getBytes(StandardCharsets.UTF_8).length;
    }

    static void put(String text, ByteBuffer into) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        into.putShort((short) bytes.length).put(bytes);
    }

    @Override
    public void close() {
        topic.close();
    }
}
