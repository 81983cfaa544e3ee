package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Violations that a judge has found: how many of each kind, and the first ones in words. For one thread. */
final class Findings<K extends Enum<K>> {
    private static final int MAX_EXAMPLES = 50;

    private final Map<K, Long> counts;
    private final List<String> examples = new ArrayList<>();

    Findings(Class<K> kinds) {
        counts = new EnumMap<>(kinds);
    }

    void note(K kind, String what) {
        if (counts.merge(kind, 1L, Long::sum) <= MAX_EXAMPLES) {
            examples.add(kind + ": " + what);
        }
    }

    /** By kind; those that did not occur are missing. */
    Map<K, Long> counts() {
        return counts;
    }

    /** For each kind the first ones. */
    List<String> examples() {
        return examples;
    }
}
