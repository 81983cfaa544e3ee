package dev.millrace.mirror.verify;

import dev.millrace.mirror.text.Words;
import java.util.Locale;

/**
 * Adjacent records with the same fault.
 *
 * @param source offsets of the source; none for those that are only on the target
 * @param target offsets of the target; none for those that are only on the source
 */
public record Difference(Fault fault, int partition, long records, Offsets source, Offsets target) {
    /** The first and the last of some offsets; −1 for none. */
    public record Offsets(long first, long last) {
        static final Offsets NONE = new Offsets(-1, -1);

        static Offsets of(long offset) {
            return new Offsets(offset, offset);
        }

        Offsets upTo(Offsets later) {
            return isNone() ? later : new Offsets(Math.min(first, later.first), Math.max(last, later.last));
        }

        public boolean isNone() {
            return first < 0;
        }

        private String describe(String cluster) {
            return first == last
                    ? String.format(Locale.ROOT, ", %s offset %,d", cluster, first)
                    : String.format(Locale.ROOT, ", %s offsets %,d to %,d", cluster, first, last);
        }
    }

    /** Describes the difference, such as {@code partition 2: 3 records missing, source offsets 7 to 9}. */
    public String describe() {
        return "partition " + partition + ": " + Words.count(records, "record") + " " + fault
                + (source.isNone() ? "" : source.describe("source"))
                + (target.isNone() ? "" : target.describe("target"));
    }
}
