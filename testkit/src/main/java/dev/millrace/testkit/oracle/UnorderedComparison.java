package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Whether a topic holds the records of another, in any partition and order, in numbers of records. It is for tools that
 * keep neither; {@link Comparison} is stricter.
 *
 * @param source in the source
 * @param target in the target
 * @param lost records that the source has more often than the target
 * @param surplus records that the target has more often than the source
 */
public record UnorderedComparison(long source, long target, long lost, long surplus) {
    /** Compares two topics; takes about a second for millions of records, and 16 bytes per record. */
    public static UnorderedComparison compare(TopicDigest source, TopicDigest target) {
        long[] expected = source.sorted();
        long[] actual = target.sorted();
        long lost = 0;
        long surplus = 0;
        int i = 0;
        int j = 0;
        while (i < expected.length && j < actual.length) {
            if (expected[i] == actual[j]) {
                i++;
                j++;
            } else if (expected[i] < actual[j]) {
                lost++;
                i++;
            } else {
                surplus++;
                j++;
            }
        }
        return new UnorderedComparison(
                expected.length, actual.length, lost + expected.length - i, surplus + actual.length - j);
    }

    /** Whether the target holds every record of the source once, and nothing else. */
    public boolean isExact() {
        return lost == 0 && surplus == 0;
    }

    /** One line. */
    @Override
    public String toString() {
        List<String> words = new ArrayList<>(List.of(String.format(Locale.ROOT, "%,d records", source)));
        if (isExact()) {
            words.add("all there once");
        }
        if (lost > 0) {
            words.add(String.format(Locale.ROOT, "%,d lost", lost));
        }
        if (surplus > 0) {
            words.add(String.format(Locale.ROOT, "%,d doubled or unexpected", surplus));
        }
        return String.join(", ", words);
    }
}
