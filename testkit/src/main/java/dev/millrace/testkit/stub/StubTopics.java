package dev.millrace.testkit.stub;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;

/** The topics of a stub broker, by name and by id. */
final class StubTopics {
    private final Map<String, StubTopic> byName = new LinkedHashMap<>();
    private final Map<Uuid, StubTopic> byId = new HashMap<>();

    /** Takes topics as {@code name=partitions}. */
    StubTopics(List<String> specifications) {
        for (String specification : specifications) {
            String[] parts = specification.split("=", 2);
            StubTopic topic = new StubTopic(parts[0], Integer.parseInt(parts[1]));
            byName.put(topic.name(), topic);
            byId.put(topic.id(), topic);
        }
    }

    /** Null when there is no such topic. */
    StubTopic named(String name) {
        return byName.get(name);
    }

    /** Null when there is no such topic. */
    StubTopic withId(Uuid id) {
        return byId.get(id);
    }

    Collection<StubTopic> all() {
        return byName.values();
    }

    /** A topic, and the offset that the next record of each of its partitions gets. */
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

        /** Gives offsets to so many records, and returns the first. */
        long append(int partition, int records) {
            long first = nextOffsets[partition];
            nextOffsets[partition] = first + records;
            return first;
        }
    }
}
