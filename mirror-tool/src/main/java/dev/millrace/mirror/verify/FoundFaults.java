package dev.millrace.mirror.verify;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Classifies records that have no equal one at their place on the other side. A record that is elsewhere on the other
 * side is out of order; a target record equal to an earlier copy is doubled. What is left in a gap is different as far
 * as both sides have records there, and otherwise missing or extra.
 *
 * <p>The search is bounded: a doubled record is recognised among the last {@link #REMEMBERED} copies before it, and a
 * record that is out of order among the last {@link #PENDING} unmatched records. Farther away they count as extra and
 * missing.
 */
final class FoundFaults {
    static final int REMEMBERED = 1 << 20;
    static final int PENDING = 1 << 16;

    private final PartitionRange range;
    private final PartitionTally tally;
    private final RememberedDigests copied;
    private final Map<Long, Deque<Unmatched>> ofSource = new HashMap<>();
    private final Map<Long, Deque<Unmatched>> ofTarget = new HashMap<>();
    private final Deque<Gap> open = new ArrayDeque<>();
    private int pending;

    FoundFaults(PartitionRange range, PartitionTally tally) {
        this.range = range;
        this.tally = tally;
        copied = new RememberedDigests((int) Math.min(REMEMBERED, Math.max(1, range.sourceTo() - range.sourceFrom())));
    }

    private static final class Unmatched {
        private final long offset;
        private final long digest;
        private final long place;
        private boolean isExplained;

        Unmatched(long offset, long digest, long place) {
            this.offset = offset;
            this.digest = digest;
            this.place = place;
        }
    }

    /** Unmatched records between two equal ones. */
    static final class Gap {
        /** The number of equal records before it. */
        private final long place;

        private final List<Unmatched> ofSource = new ArrayList<>();
        private final List<Unmatched> ofTarget = new ArrayList<>();

        private Gap(long place) {
            this.place = place;
        }

        void addOfSource(long offset, long digest) {
            ofSource.add(new Unmatched(offset, digest, place));
        }

        void addOfTarget(long offset, long digest) {
            ofTarget.add(new Unmatched(offset, digest, place));
        }

        private int size() {
            return ofSource.size() + ofTarget.size();
        }
    }

    /** The next record of the source has its copy next on the target. */
    void onEqual(long digest) {
        tally.onSame();
        copied.add(digest);
    }

    Gap beginGap() {
        return new Gap(tally.same());
    }

    /** The gap is complete. */
    void end(Gap gap) {
        if (gap.size() == 0) {
            return;
        }
        tally.onUnmatched(gap.ofSource.size(), gap.ofTarget.size());
        for (Unmatched record : gap.ofSource) {
            if (!isMoved(record, takeOrNull(ofTarget, record.digest))) {
                ofSource.computeIfAbsent(record.digest, digest -> new ArrayDeque<>())
                        .add(record);
            }
        }
        for (Unmatched copy : gap.ofTarget) {
            if (!isMoved(takeOrNull(ofSource, copy.digest), copy) && !isDoubled(copy)) {
                ofTarget.computeIfAbsent(copy.digest, digest -> new ArrayDeque<>())
                        .add(copy);
            }
        }
        pending += gap.size();
        open.add(gap);
        while (pending > PENDING) {
            close(open.remove());
        }
    }

    private boolean isMoved(Unmatched recordOrNull, Unmatched copyOrNull) {
        if (recordOrNull == null || copyOrNull == null) {
            return false;
        }
        recordOrNull.isExplained = true;
        copyOrNull.isExplained = true;
        // If the target may have deleted the record's first copy, this is a further one.
        boolean isFurther = recordOrNull.place == 0 && range.mayTargetLackFirst();
        tally.add(
                isFurther ? Fault.DOUBLED : Fault.OUT_OF_ORDER,
                copyOrNull.place,
                recordOrNull.offset,
                copyOrNull.offset);
        copied.add(recordOrNull.digest);
        return true;
    }

    private boolean isDoubled(Unmatched copy) {
        copy.isExplained = copied.contains(copy.digest);
        if (copy.isExplained) {
            tally.add(Fault.DOUBLED, copy.place, PartitionTally.NO_OFFSET, copy.offset);
        }
        return copy.isExplained;
    }

    /** Classifies what nothing has explained so far. */
    private void close(Gap gap) {
        pending -= gap.size();
        List<Unmatched> here = unexplained(gap.ofSource, ofSource);
        List<Unmatched> there = unexplained(gap.ofTarget, ofTarget);
        there.removeIf(this::isDoubled); // The copy at the right place came later.
        if (gap.place == 0 && (range.mayTargetLackFirst() || range.maySourceLackFirst())) {
            if (range.mayTargetLackFirst()) {
                tally.onNotOnTarget(here.size());
                here = List.of();
            }
            if (range.maySourceLackFirst()) {
                tally.onNotOnSource(there.size());
                there.forEach(copy -> copied.add(copy.digest)); // Further copies of these are doubled, not extra.
                there = List.of();
            }
        }
        int different = Math.min(here.size(), there.size());
        for (int i = 0; i < different; i++) {
            tally.add(Fault.DIFFERENT, gap.place, here.get(i).offset, there.get(i).offset);
        }
        for (Unmatched record : here.subList(different, here.size())) {
            tally.add(Fault.MISSING, gap.place, record.offset, PartitionTally.NO_OFFSET);
        }
        for (Unmatched copy : there.subList(different, there.size())) {
            tally.add(Fault.EXTRA, gap.place, PartitionTally.NO_OFFSET, copy.offset);
        }
    }

    private static List<Unmatched> unexplained(List<Unmatched> all, Map<Long, Deque<Unmatched>> known) {
        List<Unmatched> left = new ArrayList<>();
        for (Unmatched record : all) {
            if (!record.isExplained) {
                takeOrNull(known, record.digest); // the oldest with this digest is this record
                left.add(record);
            }
        }
        return left;
    }

    /** Removes and returns the oldest record with this digest, or null. */
    private static Unmatched takeOrNull(Map<Long, Deque<Unmatched>> known, long digest) {
        Deque<Unmatched> records = known.get(digest);
        if (records == null) {
            return null;
        }
        Unmatched oldest = records.remove();
        if (records.isEmpty()) {
            known.remove(digest);
        }
        return oldest;
    }

    /**
     * Everything has been compared.
     *
     * @param firstNotCopied the first record of the source that need not be on the target yet
     */
    void finish(OptionalLong firstNotCopied) {
        while (!open.isEmpty()) {
            close(open.remove());
        }
        firstNotCopied.ifPresent(offset -> tally.onNotCopiedYet(range.sourceTo() - offset));
    }
}
