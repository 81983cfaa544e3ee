package dev.millrace.mirror.topics;

import dev.millrace.mirror.status.PartitionCounters;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Compares how fast the target accepts all partitions, to tell a partition that only waits for its turn on a slow link
 * from one that the target does not accept. Once others have had everything in flight acknowledged several times, a
 * waiting partition is no longer waiting for its turn.
 *
 * <p><b>Threads:</b> one.
 */
final class TargetPace {
    /** The producer serves partitions in turn, but the links to the leaders need not be equally busy. */
    private static final int TURNS = 4;

    private final Map<PartitionCounters, Turns> turns = new HashMap<>();
    private long nowNanos;
    private OptionalLong ackedNanos = OptionalLong.empty();
    private OptionalLong overtookNanos = OptionalLong.empty();

    /** A partition's acknowledged and in-flight counts when its turn began; the next turn begins after some others. */
    private record Turns(long acked, long inFlight, int count, long sinceNanos, long latestAcked) {
        boolean isOneOver(long nowAcked) {
            return nowAcked - acked > inFlight;
        }
    }

    /** Reads the counters. Call it about once a second. */
    void look(Stream<PartitionCounters> all, long now) {
        nowNanos = now;
        all.forEach(this::look);
    }

    private void look(PartitionCounters counters) {
        long acked = counters.acked();
        Turns known = turns.get(counters);
        if (known != null && acked == known.latestAcked) {
            return; // which is what most do: a mirror has thousands that are idle
        }
        if (known != null) {
            ackedNanos = OptionalLong.of(nowNanos);
        }
        turns.put(counters, next(known, counters, acked));
    }

    private Turns next(Turns known, PartitionCounters counters, long acked) {
        if (known == null) {
            return new Turns(acked, counters.inFlight(), 0, nowNanos, acked);
        }
        if (!known.isOneOver(acked)) {
            return new Turns(known.acked, known.inFlight, known.count, known.sinceNanos, acked);
        }
        if (known.count + 1 < TURNS) {
            return new Turns(acked, counters.inFlight(), known.count + 1, known.sinceNanos, acked);
        }
        overtookNanos = OptionalLong.of(Math.max(overtookNanos.orElse(known.sinceNanos), known.sinceNanos));
        return new Turns(acked, counters.inFlight(), 0, nowNanos, acked);
    }

    /** Whether a partition waiting since then may only wait for its turn: others advance but have not overtaken it. */
    boolean mayBeInTurn(long sinceNanos, long quietNanos) {
        boolean doOthersGoOn = ackedNanos.isPresent() && nowNanos - ackedNanos.getAsLong() < quietNanos;
        return doOthersGoOn && (overtookNanos.isEmpty() || sinceNanos > overtookNanos.getAsLong());
    }
}
