package dev.millrace.mirror.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.pass.AbortedFilter;
import dev.millrace.mirror.pass.RecordCursor;
import dev.millrace.mirror.pass.SourceBatch;
import java.nio.ByteBuffer;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Knows what a reader of one partition of a {@link SimulatedSource} must get, and where its position may go. */
final class FetchOracle {
    private static final int NONE = -1;

    private final String where;
    private final SimulatedLog log;
    private final ResetPolicy policy;
    private final Seen seen;
    private final RecordCursor cursor = new RecordCursor();
    private final AbortedFilter filter = new AbortedFilter(new RecordCursor());
    /** The ids of the records that were handed out and are not aborted. */
    private final NavigableMap<Long, Long> records = new TreeMap<>();

    private boolean isAssigned;
    private long position;
    /** What the log has from here on must have come. */
    private long first;

    private int epoch = NONE;
    /** The poll since which the position is what it is. */
    private int since;
    /** Whether the position was after the log's end. */
    private boolean isAfterEnd;

    /** What has happened, so that a test can tell that it has looked at all of it. */
    static final class Seen {
        private int records;
        private int aborted;
        private int holes;
        private int gaps;
        private int truncations;
        private int resetsByPolicy;

        boolean isEverything() {
            return records > 0 && aborted > 0 && holes > 0 && gaps > 0 && truncations > 0 && resetsByPolicy > 0;
        }

        @Override
        public String toString() {
            return "%,d records, %,d aborted batches, %,d holes, %,d gaps, %,d truncations, %,d resets by policy"
                    .formatted(records, aborted, holes, gaps, truncations, resetsByPolicy);
        }
    }

    FetchOracle(String where, SimulatedLog log, ResetPolicy policy, Seen seen) {
        this.where = where;
        this.log = log;
        this.policy = policy;
        this.seen = seen;
    }

    boolean isAssigned() {
        return isAssigned;
    }

    long position() {
        return position;
    }

    boolean isEpochKnown() {
        return epoch != NONE;
    }

    int epoch() {
        return epoch;
    }

    boolean isAtEnd() {
        return position == log.end();
    }

    /** Where it was. */
    void onAssigned() {
        isAssigned = true;
    }

    /** After this batch; if there is none, at offset 0, as a mirror begins. */
    void onAssigned(SimulatedLog.Batch lastOrNull) {
        begin(lastOrNull == null ? 0 : lastOrNull.end(), lastOrNull == null ? NONE : lastOrNull.epoch());
    }

    void onAssignedAfterTheEnd(int by) {
        begin(log.end() + by, NONE);
        isAfterEnd = true;
    }

    private void begin(long offset, int newEpoch) {
        isAssigned = true;
        records.clear();
        first = offset;
        moveTo(offset, newEpoch);
    }

    private void moveTo(long offset, int newEpoch) {
        position = offset;
        epoch = newEpoch;
        since = log.poll();
        isAfterEnd = false;
    }

    void onUnassigned() {
        isAssigned = false;
    }

    void onFetched(FetchedBatches fetched) {
        assertThat(isAssigned).as("%s is assigned", where).isTrue();
        assertThat(fetched.fetchOffset()).as(where).isEqualTo(position);
        filter.onAnswer();
        fetched.aborted().forEach(aborted -> filter.addAborted(aborted.producerId(), aborted.firstOffset()));
        long from = position;
        SourceBatch batch = new SourceBatch();
        batch.wrap(fetched.bytes());
        while (batch.moveToNext()) {
            take(batch);
        }
        boolean isOfThisLog =
                log.cutsBelow(position, log.poll() - SimulatedLog.LATENCY).isEmpty();
        if (isOfThisLog) {
            check(from, position);
        }
    }

    private void take(SourceBatch batch) {
        long end = batch.lastOffset() + 1;
        assertThat(end).as("%s, end of a batch", where).isGreaterThan(position);
        if (batch.baseOffset() > position) {
            seen.holes++;
        }
        filter.onBatch(batch);
        if (filter.isAborted(batch)) {
            seen.aborted++;
        } else if (!batch.isControl()) {
            cursor.open(batch, position);
            while (cursor.moveNext()) {
                int keyAt = cursor.start() + 1; // after its length
                records.put(cursor.offset(), ByteBuffer.wrap(cursor.array()).getLong(keyAt));
                seen.records++;
            }
        }
        moveTo(end, batch.leaderEpoch());
    }

    /** What the log has of these offsets has come, and what has come is of this log. */
    private void check(long from, long to) {
        SortedMap<Long, Long> visible = log.visible(from, to);
        SortedMap<Long, Long> came = records.subMap(Math.min(from, to), to);
        assertThat(came).as("%s, from %d to %d", where, from, to).containsAllEntriesOf(visible);
        came.forEach((offset, id) ->
                assertThat(id).as("%s, record at %d", where, offset).isEqualTo(log.id(offset)));
    }

    /** When nothing happens any more. */
    void checkAll() {
        assertThat(position).as("%s, position", where).isEqualTo(log.end());
        check(Math.max(first, log.start()), log.end());
    }

    void onReset(long from, long to, String cause) {
        assertThat(from).as("%s: %s", where, cause).isEqualTo(position);
        Set<Long> truncations = truncations(from);
        Set<Long> gaps = new TreeSet<>();
        Set<Long> byPolicy = new TreeSet<>();
        for (SimulatedLog.Bounds bounds : log.recent()) {
            if (bounds.start() > from || (bounds.start() == from && isAfterEnd)) {
                gaps.add(bounds.start());
            }
            if (isAfterEnd) {
                byPolicy.add(policy.isEarliest() ? bounds.start() : bounds.stableEnd());
            }
        }
        assertThat(gaps.contains(to) || truncations.contains(to) || byPolicy.contains(to))
                .as(
                        "%s is moved from %d to %d (%s), and may be to %s after a gap, to %s after a truncation, to %s"
                                + " from after the end",
                        where, from, to, cause, gaps, truncations, byPolicy)
                .isTrue();
        if (gaps.contains(to)) {
            seen.gaps++;
        } else if (truncations.contains(to)) {
            seen.truncations++;
            first = Math.min(first, to);
        } else {
            seen.resetsByPolicy++;
            first = to;
        }
        records.tailMap(to).clear();
        moveTo(to, NONE);
    }

    /** Where the log was cut off below the position: each may be the last that the leader knew of when it answered. */
    private Set<Long> truncations(long from) {
        Set<Long> places = new TreeSet<>();
        long lowest = Long.MAX_VALUE;
        for (SimulatedLog.Cut cut : log.cutsBelow(from, since - SimulatedLog.LATENCY)) {
            if (cut.poll() < log.poll() - SimulatedLog.LATENCY) {
                places.clear();
            }
            lowest = Math.min(lowest, cut.to());
            for (SimulatedLog.Bounds bounds : log.recent()) {
                places.add(Math.max(lowest, bounds.start()));
            }
        }
        places.removeIf(place -> place >= from);
        return places;
    }
}
