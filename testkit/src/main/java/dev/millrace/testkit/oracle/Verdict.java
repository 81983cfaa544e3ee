package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a {@link DeliveryOracle} found, in numbers of records.
 *
 * @param acknowledged distinct stamps reported as acknowledged
 * @param read stamps of the run that are in the topics; may be more than acknowledged if some sends failed
 * @param lost acknowledged, but not found
 * @param doubled found again
 * @param reordered found after a later one of the same thread in the same partition
 * @param misrouted found in a topic or partition that the stamp does not name
 * @param corrupt values that are no stamp or a damaged one
 * @param examples the first few of each fault, in words
 */
public record Verdict(
        long acknowledged,
        long read,
        long lost,
        long doubled,
        long reordered,
        long misrouted,
        long corrupt,
        List<String> examples) {

    /** Whether there is no fault of any kind. */
    public boolean isClean() {
        return lost == 0 && doubled == 0 && reordered == 0 && misrouted == 0 && corrupt == 0;
    }

    /** One line, and one more for each example. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "%,d acknowledged, %,d read: %,d lost, %,d doubled, %,d reordered, %,d misrouted, %,d corrupt",
                acknowledged,
                read,
                lost,
                doubled,
                reordered,
                misrouted,
                corrupt));
        lines.addAll(examples);
        return String.join("\n  ", lines);
    }
}
