package dev.millrace.mirror.verify;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Counts what is found in a partition and keeps the first differences; adjacent ones are joined. */
final class PartitionTally {
    static final long NO_OFFSET = -1;
    private static final int FIRST = 10;

    private final int partition;
    private final boolean areTimestampsCompared;
    private final Map<Fault, Long> counts = new EnumMap<>(Fault.class);
    private final Map<Fault, Run> lastRuns = new EnumMap<>(Fault.class);
    private final List<Run> firstRuns = new ArrayList<>();
    private long same;
    private long source;
    private long target;
    private long notOnTarget;
    private long notOnSource;
    private long notCopiedYet;

    PartitionTally(int partition, boolean areTimestampsCompared) {
        this.partition = partition;
        this.areTimestampsCompared = areTimestampsCompared;
    }

    /** A difference at a place, which is the number of equal records before it. */
    private static final class Run {
        private final Fault fault;
        private final long place;
        private long records;
        private Difference.Offsets source = Difference.Offsets.NONE;
        private Difference.Offsets target = Difference.Offsets.NONE;

        Run(Fault fault, long place) {
            this.fault = fault;
            this.place = place;
        }
    }

    void onSame() {
        same++;
        source++;
        target++;
    }

    /** Counts records whose fault is determined later. */
    void onUnmatched(long ofSource, long ofTarget) {
        source += ofSource;
        target += ofTarget;
    }

    /** Counts records that the target has deleted or is not asked for; they are no fault. */
    void onNotOnTarget(long records) {
        notOnTarget += records;
    }

    /** Counts records that the source has deleted or is not asked for; they are no fault. */
    void onNotOnSource(long records) {
        notOnSource += records;
    }

    void onNotCopiedYet(long offsets) {
        notCopiedYet += offsets;
    }

    void add(Fault fault, long place, long sourceOffset, long targetOffset) {
        counts.merge(fault, 1L, Long::sum);
        Run run = lastRuns.get(fault);
        if (run == null || run.place != place) {
            run = new Run(fault, place);
            lastRuns.put(fault, run);
            if (firstRuns.size() < FIRST) {
                firstRuns.add(run);
            }
        }
        run.records++;
        run.source = sourceOffset == NO_OFFSET ? run.source : run.source.upTo(Difference.Offsets.of(sourceOffset));
        run.target = targetOffset == NO_OFFSET ? run.target : run.target.upTo(Difference.Offsets.of(targetOffset));
    }

    /** Returns how many records were the same so far. */
    long same() {
        return same;
    }

    PartitionResult result() {
        List<Difference> first = firstRuns.stream()
                .sorted(Comparator.comparingLong(run -> run.place))
                .map(run -> new Difference(run.fault, partition, run.records, run.source, run.target))
                .toList();
        return new PartitionResult(
                partition,
                source,
                target,
                same,
                Map.copyOf(counts),
                notOnTarget,
                notOnSource,
                notCopiedYet,
                areTimestampsCompared,
                first);
    }
}
