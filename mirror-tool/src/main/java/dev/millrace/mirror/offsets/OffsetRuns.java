package dev.millrace.mirror.offsets;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.apache.kafka.common.utils.ByteUtils;

/**
 * Maps the offsets of one source partition to those at the target, as runs within which the two offsets differ by a
 * constant. A topic without gaps, to which nothing else writes at the target, has one run however long it is. A
 * transaction marker, a record removed by compaction, or a foreign record begins another run.
 *
 * <p>A run begins with a source offset and a target offset, and ends where the next one begins. A run is known if the
 * difference holds for each of its records, and no further copies are between its last record and the next run. Of any
 * other run only this is known: its records are at or after its target offset. The last run is always such a run, and
 * still empty.
 *
 * <p>{@link #translate} skips no record, because of one rule that {@link #append} and {@link #begin} keep: for each run
 * that begins at source offset s and target offset t, each record from s on has a copy from t on. Copies are written in
 * order, so the rule holds when a run is appended; when records are copied again, everything known from there on is
 * forgotten.
 *
 * <p><b>Bounds:</b> at most {@value #MOST} runs. When there are more, pairs of runs in the older half are merged into
 * unknown ones. So the older an offset is, the less exact is its translation, and the newest 2,000 runs are always
 * exact.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class OffsetRuns {
    static final int MOST = 4_096;
    private static final byte FORMAT = 1;
    private static final int FIRST_CAPACITY = 4;

    private long[] sources = new long[FIRST_CAPACITY];
    /** The target offset of each run; its complement if the run is not known. */
    private long[] targets = new long[FIRST_CAPACITY];

    private int size;

    public boolean isEmpty() {
        return size == 0;
    }

    /** Returns the number of runs. */
    public int size() {
        return size;
    }

    public OffsetRuns copy() {
        OffsetRuns copy = new OffsetRuns();
        copy.sources = Arrays.copyOf(sources, Math.max(size, FIRST_CAPACITY));
        copy.targets = Arrays.copyOf(targets, Math.max(size, FIRST_CAPACITY));
        copy.size = size;
        return copy;
    }

    /** Returns the source offset up to which something is known; -1 if nothing is. */
    public long end() {
        return size == 0 ? -1 : sources[size - 1];
    }

    /** Whether it is known which target offset belongs to the end. */
    public boolean isEndKnown() {
        return size > 0 && !isAfterHole(size - 1);
    }

    private long start(int run) {
        return targets[run] < 0 ? ~targets[run] : targets[run];
    }

    private boolean isKnown(int run) {
        return targets[run] >= 0;
    }

    /** Whether earlier records, of which nothing is known, are also somewhere after the run's target offset. */
    private boolean isAfterHole(int run) {
        return run > 0 && !isKnown(run) && !isKnown(run - 1) && start(run - 1) == start(run);
    }

    // ---- recording ----

    /**
     * Copying starts at this source offset; nothing is known about the records between {@link #end} and this offset. If
     * the offset is before the end, the records are copied again.
     */
    public void begin(long source) {
        if (size == 0 || source == end()) {
            return;
        }
        if (source < sources[0]) {
            size = 0;
            return;
        }
        long target = translate(source).target();
        removeFrom(source);
        push(source, ~target);
    }

    /** The target ends at this offset, and no record from this source offset on has been copied. */
    public void anchor(long source, long target) {
        begin(source);
        removeAfter(source, target);
        if (size > 0 && end() == source) {
            size--;
        }
        push(source, ~target);
        for (int hole = size - 2; hole >= 0 && !isKnown(hole) && start(hole) == target; hole--) {
            targets[hole] = target; // nothing was written in between
        }
    }

    /**
     * Adds records whose offsets are consecutive on both sides. Offsets between the last call of this method or of
     * {@link #begin} and these have no records, or none that are copied.
     */
    public void append(long source, long target, long count) {
        boolean isAfterEnd = size > 0 && !removeAfter(source, target);
        boolean isPreviousKnown = isAfterEnd && size > 1 && isKnown(size - 2);
        if (isPreviousKnown && targets[size - 2] - sources[size - 2] == target - source) {
            size--; // the difference is the same, so the run continues
        } else {
            if (isPreviousKnown || (size > 0 && end() == source)) {
                size--; // nothing is between them
            }
            push(source, target);
        }
        push(source + count, ~(target + count));
    }

    /** Adds records that are at the target at unknown offsets. */
    public void appendUnknown(long source, long count) {
        begin(source + count);
    }

    /** Says that no record before this source offset remains to be copied. */
    public void moveEnd(long source) {
        int last = size - 1;
        if (size == 0 || source <= end() || isAfterHole(last)) {
            return;
        }
        if (size > 1 && isKnown(last - 1)) {
            sources[last] = source;
        } else {
            targets[last] = start(last);
            push(source, ~targets[last]);
        }
    }

    /** Adds everything that others know after what is known here. */
    public void appendAll(OffsetRuns others) {
        for (int i = 0; i < others.size; i++) {
            boolean isAfterKnown = i > 0 && others.isKnown(i - 1);
            if (others.isKnown(i)) {
                if (!isAfterKnown) {
                    begin(others.sources[i]);
                }
                long records = others.sources[i + 1] - others.sources[i];
                append(
                        others.sources[i],
                        others.targets[i],
                        Math.min(records, others.start(i + 1) - others.targets[i]));
            } else if (others.isAfterHole(i)) {
                begin(others.sources[i]);
            } else if (isAfterKnown && i == others.size - 1) {
                moveEnd(others.sources[i]);
            } else {
                anchor(others.sources[i], others.start(i));
            }
        }
    }

    /**
     * Returns the same from the target's side: where at the source its records come from. Records of others at the
     * target, and second copies, count as gaps.
     */
    public OffsetRuns inverted() {
        OffsetRuns inverted = new OffsetRuns();
        for (int i = 0; i < size; i++) {
            boolean isAfterKnown = i > 0 && isKnown(i - 1);
            if (isKnown(i)) {
                if (!isAfterKnown) {
                    inverted.begin(targets[i]);
                }
                long records = Math.min(sources[i + 1] - sources[i], start(i + 1) - targets[i]);
                inverted.append(targets[i], sources[i], records);
            } else if (!isAfterHole(i) && (!isAfterKnown || i < size - 1)) { // append() knows the end after a known run
                inverted.removeFrom(start(i)); // of runs that begin at one target offset, the last one counts
                inverted.push(start(i), ~sources[i]);
            }
        }
        return inverted;
    }

    /** The target has lost what it had from this offset on. */
    public void truncate(long target) {
        if (size == 0 || start(size - 1) <= target) {
            return;
        }
        long end = end();
        removeAfter(end, target);
        if (size > 0 && isKnown(size - 1)) {
            long left = target - targets[size - 1];
            long from = Math.min(sources[size], sources[size - 1] + left); // the first removed one, or before
            if (left == 0) {
                size--;
            }
            push(from, ~target);
        }
        begin(end);
    }

    /** Forgets offsets that the source no longer has. */
    public void dropBefore(long source) {
        int first = find(source);
        while (first > 0 && isAfterHole(first)) {
            first--;
        }
        if (first > 0) {
            size -= first;
            System.arraycopy(sources, first, sources, 0, size);
            System.arraycopy(targets, first, targets, 0, size);
        }
    }

    /**
     * Removes runs that begin after either offset, because they are copied again or the target has lost them. Returns
     * whether there were any.
     */
    private boolean removeAfter(long source, long target) {
        int before = size;
        while (size > 0 && (sources[size - 1] > source || start(size - 1) > target)) {
            size--;
        }
        return size < before;
    }

    private void removeFrom(long source) {
        while (size > 0 && sources[size - 1] >= source) {
            size--;
        }
    }

    private void push(long source, long target) {
        if (size == MOST) {
            mergeOlder();
        }
        if (size == sources.length) {
            sources = Arrays.copyOf(sources, size * 2);
            targets = Arrays.copyOf(targets, size * 2);
        }
        sources[size] = source;
        targets[size++] = target;
    }

    private void mergeOlder() {
        int kept = 0;
        long[] oldTargets = targets.clone();
        for (int i = 0; i < size; i++) {
            boolean isOld = i < MOST / 2;
            boolean isMerged = isOld && i % 2 == 1;
            boolean isInHole = i <= MOST / 2 && i > 0 && oldTargets[i] < 0 && oldTargets[i] == oldTargets[i - 1];
            if (!isMerged && !isInHole) {
                sources[kept] = sources[i];
                targets[kept++] = isOld ? Math.min(oldTargets[i], ~oldTargets[i]) : oldTargets[i];
            }
        }
        size = kept;
    }

    // ---- questions ----

    /** Whether the offset is before everything known, so that {@link #translate} has no answer. */
    public boolean isBefore(long source) {
        return size == 0 || source < sources[0];
    }

    /** Returns the target offset before which nothing is known; -1 if nothing is known at all. */
    public long firstTarget() {
        return size == 0 ? -1 : start(0);
    }

    /**
     * Returns the last copy whose offset is known. Each later source record is also after it on the target.
     *
     * @return empty if no copy's offset is known
     */
    public Optional<Copy> lastCopy() {
        for (int run = size - 2; run >= 0; run--) {
            long records = Math.min(sources[run + 1] - sources[run], start(run + 1) - start(run));
            if (isKnown(run) && records > 0) {
                return Optional.of(new Copy(sources[run] + records - 1, targets[run] + records - 1));
            }
        }
        return Optional.empty();
    }

    /** The offsets that a record has at the source and at the target. */
    public record Copy(long source, long target) {}

    /**
     * Returns a target offset at or before the copy of each record from this source offset on, exact if it is known.
     *
     * @throws IllegalArgumentException the offset is before everything known
     */
    public Translation translate(long source) {
        if (isBefore(source)) {
            throw new IllegalArgumentException("Nothing is known of offset " + source);
        }
        int run = find(source);
        long from = start(run);
        int next = run + 1;
        while (next < size && isAfterHole(next)) {
            next++;
        }
        long most = next < size ? start(next) - from : Long.MAX_VALUE;
        if (isKnown(run)) {
            return new Translation(from + Math.min(source - sources[run], most), 0);
        }
        int hole = run;
        while (isAfterHole(hole)) {
            hole--;
        }
        return new Translation(from, Math.min(source - sources[hole], most));
    }

    /** Returns the run that has the offset; -1 if the offset is before all runs. */
    private int find(long source) {
        int found = Arrays.binarySearch(sources, 0, size, source);
        return found >= 0 ? found : -found - 2;
    }

    // ---- stored form ----

    /** Writes the format's number, the number of runs, and for each how far it begins after the last on each side. */
    public byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(1 + ByteUtils.sizeOfUnsignedVarint(size) + size * 2 * 10);
        bytes.put(FORMAT);
        ByteUtils.writeUnsignedVarint(size, bytes);
        long source = 0;
        long target = 0;
        for (int i = 0; i < size; i++) {
            ByteUtils.writeVarlong(sources[i] - source, bytes);
            ByteUtils.writeVarlong(isKnown(i) ? start(i) - target : ~(start(i) - target), bytes);
            source = sources[i];
            target = start(i);
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    /** Reads what {@link #toBytes} has written, but no later format. */
    public static OffsetRuns read(ByteBuffer bytes) {
        OffsetRuns runs = new OffsetRuns();
        if (bytes.get() != FORMAT) {
            return runs;
        }
        int count = ByteUtils.readUnsignedVarint(bytes);
        long source = 0;
        long target = 0;
        for (int i = 0; i < count; i++) {
            source += ByteUtils.readVarlong(bytes);
            long step = ByteUtils.readVarlong(bytes);
            boolean isKnown = step >= 0;
            target += isKnown ? step : ~step;
            runs.push(source, isKnown ? target : ~target);
        }
        return runs;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < size; i++) {
            text.append(sources[i])
                    .append(isKnown(i) ? "=" : ">=")
                    .append(start(i))
                    .append(' ');
        }
        return text.toString().strip();
    }
}
