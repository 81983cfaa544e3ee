package dev.millrace.testkit.stub;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.common.Uuid;

/** The topics of a stub broker, by name and by id. */
final class StubTopics {
    private final Map<String, StubTopic> byName = new LinkedHashMap<>();
    private final Map<Uuid, StubTopic> byId = new HashMap<>();

    /**
     * @param specifications each in the form {@code name=partitions}, or {@code prefix*count=partitions} for topics that
     *     have the numbers from 0 in their names
     */
    StubTopics(List<String> specifications) {
        for (String specification : specifications) {
            String[] parts = specification.split("[*=]", 3);
            int partitions = Integer.parseInt(parts[parts.length - 1]);
            if (parts.length == 2) {
                add(new StubTopic(parts[0], partitions));
            } else {
                IntStream.range(0, Integer.parseInt(parts[1]))
                        .forEach(i -> add(new StubTopic(parts[0] + i, partitions)));
            }
        }
    }

    private void add(StubTopic topic) {
        byName.put(topic.name(), topic);
        byId.put(topic.id(), topic);
    }

    /** Null if there is no such topic. */
    StubTopic namedOrNull(String name) {
        return byName.get(name);
    }

    /** Null if there is no such topic. */
    StubTopic withIdOrNull(Uuid id) {
        return byId.get(id);
    }

    Collection<StubTopic> all() {
        return byName.values();
    }

    /** A topic, with the offset of the next record of each partition. */
    static final class StubTopic {
        private final String name;
        private final Uuid id = Uuid.randomUuid();
        private final long[] nextOffsets;

        StubTopic(String name, int partitions) {
            this.name = name;
            nextOffsets = new long[partitions];
        }

        String name() {
            return name;
        }

        Uuid id() {
            return id;
        }

        int partitions() {
            return nextOffsets.length;
        }

        /** Gives offsets to so many records, and returns the first offset. */
        long append(int partition, int records) {
            long first = nextOffsets[partition];
            nextOffsets[partition] = first + records;
            return first;
        }
    }
}
