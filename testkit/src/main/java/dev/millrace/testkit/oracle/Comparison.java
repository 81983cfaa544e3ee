package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How faithful a copy one topic is of another, in numbers of records.
 *
 * @param source in the source
 * @param target in the target
 * @param lost in the source, but nowhere in the target
 * @param doubled further copies in the target
 * @param reordered first copies that are in the target after the first copy of a record that follows them in the source
 * @param lastReordered last copies of doubled records that are in the target after the last copy of a record that
 *     follows them in the source: an older writer's copy arrived late
 * @param misrouted in another partition of the target than of the source
 * @param unexpected in the target, but nowhere in the source
 * @param examples the first few of each fault, in words
 */
public record Comparison(
        long source,
        long target,
        long lost,
        long doubled,
        long reordered,
        long lastReordered,
        long misrouted,
        long unexpected,
        List<String> examples) {

    /** Whether the target holds all records of the source, in order, and nothing else. */
    public boolean isExact() {
        return isCompleteWithDuplicates() && doubled == 0;
    }

    /**
     * Whether all records are there, perhaps some of them again, and both first copies and last copies are in order:
     * what a restart of an at-least-once mirror may leave.
     */
    public boolean isCompleteWithDuplicates() {
        return lost == 0 && reordered == 0 && lastReordered == 0 && misrouted == 0 && unexpected == 0;
    }

    /** One line, and one more for each example. */
    @Override
    public String toString() {
        List<String> words = new ArrayList<>();
        words.add(String.format(Locale.ROOT, "%,d records", source));
        if (isCompleteWithDuplicates()) {
            words.add("all there");
            words.add("in order");
        }
        addIfAny(words, lost, "lost");
        addIfAny(words, doubled, "doubled");
        addIfAny(words, reordered, "reordered");
        addIfAny(words, lastReordered, "reordered in their last copies");
        addIfAny(words, misrouted, "misrouted");
        addIfAny(words, unexpected, "unexpected");
        List<String> lines = new ArrayList<>(List.of(String.join(", ", words)));
        lines.addAll(examples);
        return String.join("\n  ", lines);
    }

    private static void addIfAny(List<String> words, long count, String fault) {
        if (count > 0) {
            words.add(String.format(Locale.ROOT, "%,d %s", count, fault));
        }
    }
}
