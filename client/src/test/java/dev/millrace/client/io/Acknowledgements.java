package dev.millrace.client.io;

import dev.millrace.client.io.SimulatedPartition.Written;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which records the answers acknowledge that have reached the producer, and at which places. */
final class Acknowledgements {
    private final Map<Long, Set<Written>> places = new HashMap<>();

    /** {@code hasPlace} is false if the broker only knows that it has them. */
    void add(List<Written> records, boolean hasPlace) {
        for (Written record : records) {
            Set<Written> told = places.computeIfAbsent(record.value(), unknown -> new HashSet<>());
            told.add(hasPlace ? record : placeless(record.value()));
        }
    }

    private static Written placeless(long value) {
        return new Written(-1, value, -1);
    }

    boolean has(long value) {
        return places.containsKey(value);
    }

    boolean has(Written record) {
        return places.getOrDefault(record.value(), Set.of()).contains(record);
    }

    boolean hasWithoutPlace(long value) {
        return has(placeless(value));
    }
}
