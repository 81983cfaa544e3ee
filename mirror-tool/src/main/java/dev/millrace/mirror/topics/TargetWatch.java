package dev.millrace.mirror.topics;

import dev.millrace.mirror.status.PartitionCounters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches for partitions for which the target accepts nothing although records wait. Logs this once and then once a
 * minute, logs when all advance again, and ends the mirror when a partition has waited longer than allowed. A partition
 * that waits for its turn on a slow link does not count.
 *
 * <p><b>Threads:</b> any member of the group reports; one timer looks.
 * <p><b>Ordering:</b> reports are immutable maps in a concurrent map; {@code isTold} and {@code problem} are written by the timer. Only the
 * timer uses everything else.
 */
public final class TargetWatch {
    private static final Logger LOG = LoggerFactory.getLogger(TargetWatch.class);
    /** A partition counts as stalled after a time longer than most leader elections take. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long REPEAT_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int SHOWN_PARTITIONS = 5;
    private static final Problem NO_PROBLEM = new Problem(Set.of(), "");

    private final Function<Set<TopicPartition>, String> findCause;
    private final Predicate<String> isRefused;
    private final Duration limit;
    private final Consumer<Throwable> onTooLong;
    private final Supplier<Stream<PartitionCounters>> counters;
    private final TargetPace pace = new TargetPace();
    private final Map<Object, Map<TopicPartition, Long>> reports = new ConcurrentHashMap<>();
    private final Map<TopicPartition, Wait> waits = new HashMap<>();
    private volatile boolean isTold;
    private volatile Problem problem = NO_PROBLEM;
    private long toldNanos;
    private long stalledSinceNanos;

    /**
     * The diagnosis that was logged last.
     *
     * @param text empty if there is none
     */
    public record Problem(Set<TopicPartition> partitions, String text) {}

    /** The target has accepted nothing after this source offset since this time. */
    private record Wait(long position, long sinceNanos) {}

    /**
     * @param findCause finds why these partitions stall; may block for some seconds
     * @param isRefused whether a topic is not mirrored because of its name, so that nothing is expected of it
     * @param limit how long a partition may wait
     * @param onTooLong notified if one waits longer
     * @param counters of all partitions
     */
    public TargetWatch(
            Function<Set<TopicPartition>, String> findCause,
            Predicate<String> isRefused,
            Duration limit,
            Consumer<Throwable> onTooLong,
            Supplier<Stream<PartitionCounters>> counters) {
        this.findCause = findCause;
        this.isRefused = isRefused;
        this.limit = limit;
        this.onTooLong = onTooLong;
        this.counters = counters;
    }

    /**
     * Replaces what this member has reported before.
     *
     * @param waiting its partitions with records that the target has not acknowledged, each with the source offset
     *     before which all is acknowledged
     */
    public void report(Object member, Map<TopicPartition, Long> waiting) {
        reports.put(member, Map.copyOf(waiting));
    }

    /** Whether the mirror has logged that it waits, and not yet that it continues. */
    public boolean isWaiting() {
        return isTold;
    }

    /** Returns the problem that the mirror logged last; at most a minute old. */
    public Problem problem() {
        return problem;
    }

    /** Checks the reports. Call it about once a second. */
    public void look(long nowNanos) {
        updateWaits(nowNanos);
        pace.look(counters.get(), nowNanos);
        Map<TopicPartition, Long> stalled = stalled(nowNanos);
        if (stalled.isEmpty()) {
            if (isTold) {
                isTold = false;
                problem = NO_PROBLEM;
                LOG.warn("The target takes all records again, after {}", seconds(nowNanos - stalledSinceNanos));
            }
            return;
        }
        long longest =
                stalled.values().stream().mapToLong(Long::longValue).max().orElseThrow();
        if (!isTold) {
            stalledSinceNanos = nowNanos - longest;
        }
        boolean isTooLong = longest > limit.toNanos();
        if (isTooLong || !isTold || nowNanos - toldNanos >= REPEAT_NANOS) {
            String what =
                    describe(stalled.keySet()) + " for " + seconds(longest) + ": " + findCause.apply(stalled.keySet());
            isTold = true;
            toldNanos = nowNanos;
            if (isTooLong) {
                onTooLong.accept(MirrorException.failed("The target has taken nothing of " + what
                        + "; that is longer than --wait-for-target allows. All that is committed has been written; a"
                        + " restart goes on from there"));
                return;
            }
            String text = "The target has taken nothing of " + what;
            problem = new Problem(Set.copyOf(stalled.keySet()), text);
            LOG.warn("{}; the mirror waits, and goes on with all others", text);
        }
    }

    private void updateWaits(long nowNanos) {
        Map<TopicPartition, Long> reported = new HashMap<>();
        reports.values().forEach(reported::putAll);
        reported.keySet().removeIf(partition -> isRefused.test(partition.topic()));
        waits.keySet().retainAll(reported.keySet());
        reported.forEach((partition, position) -> {
            Wait known = waits.get(partition);
            if (known == null || known.position != position) {
                waits.put(partition, new Wait(position, nowNanos));
            }
        });
    }

    /** Returns how many nanoseconds each stalled partition has waited. */
    private Map<TopicPartition, Long> stalled(long nowNanos) {
        long least = Math.min(QUIET_NANOS, limit.toNanos());
        Map<TopicPartition, Long> stalled = new HashMap<>();
        waits.forEach((partition, wait) -> {
            if (nowNanos - wait.sinceNanos >= least && !pace.mayBeInTurn(wait.sinceNanos, least)) {
                stalled.put(partition, nowNanos - wait.sinceNanos);
            }
        });
        return stalled;
    }

    private static String describe(Set<TopicPartition> partitions) {
        Map<String, TopicPartition> sorted = new TreeMap<>();
        partitions.forEach(partition -> sorted.put(partition.toString(), partition));
        String shown = String.join(
                ", ", sorted.keySet().stream().limit(SHOWN_PARTITIONS).toList());
        int more = partitions.size() - SHOWN_PARTITIONS;
        return more > 0 ? shown + " and " + Words.count(more, "more partition") : shown;
    }

    private static String seconds(long nanos) {
        return Words.count(TimeUnit.NANOSECONDS.toSeconds(nanos), "second");
    }
}
