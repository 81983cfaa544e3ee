package dev.millrace.weather;

import dev.millrace.testkit.oracle.Comparison;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is wrong after one run, or several.
 *
 * <p><b>Threads:</b> any.
 */
final class Judgement {
    private final Map<Rule, Long> broken = new EnumMap<>(Rule.class);
    private final List<String> examples = new ArrayList<>();
    private long records;
    private long faults;
    private long allowed;

    /**
     * The rule was broken so often; 0 is right.
     *
     * @param what was found, and where
     */
    synchronized void found(Rule rule, long count, String what) {
        if (count > 0) {
            broken.merge(rule, count, Long::sum);
            examples.add(rule + " " + count + ": " + what);
        }
    }

    synchronized void foundFaults(long count) {
        faults += count;
    }

    /**
     * Judges the copy of one topic.
     *
     * @param name of the topic, and what is promised
     * @param committed of what readers of committed records see of the target, with all that they ever saw of the source
     * @param withAborted the same, with all that was ever at the source
     * @param present the same, with what they still see of the source
     * @param named how many records the mirror has called missing, because they were deleted from the source
     */
    synchronized void judge(
            String name,
            Promise promise,
            Comparison committed,
            Comparison withAborted,
            Comparison present,
            long named) {
        long strangers = committed.unexpected() + committed.misrouted();
        long aborted = committed.unexpected() - withAborted.unexpected();
        long outOfOrder = committed.reordered() + committed.lastReordered();
        long doubled = promise == Promise.EXACT ? committed.doubled() : 0;
        long reordered = switch (promise) {
            case EXACT -> outOfOrder;
            case AT_LEAST_ONCE -> committed.reordered();
            case ONLY_COMPLETE -> 0;
        };
        String what = name + ", promised: " + promise + "; "
                + committed.examples().stream().limit(3).collect(Collectors.joining("; "));
        // A record whose content has changed is missing, too.
        found(Rule.LOST, Math.max(0, present.lost() - withAborted.unexpected()), what);
        found(Rule.DOUBLED, doubled, what);
        found(Rule.REORDERED, reordered, what);
        found(Rule.CHANGED, strangers - aborted, what);
        found(Rule.ABORTED_READ, aborted, what);
        found(Rule.UNNAMED, committed.lost() - present.lost() - named, what);
        records += committed.source();
        allowed += committed.doubled() - doubled + outOfOrder - reordered;
    }

    /** Adds the numbers of a run that is over. */
    synchronized void add(Judgement other) {
        for (Rule rule : Rule.values()) {
            broken.merge(rule, other.broken(rule), Long::sum);
        }
        records += other.records();
        faults += other.faults();
        allowed += other.allowed();
    }

    synchronized long broken(Rule rule) {
        return broken.getOrDefault(rule, 0L);
    }

    /** Where rules were broken in this run; a line each. */
    synchronized List<String> examples() {
        return List.copyOf(examples);
    }

    /** How many records the source ever had. */
    synchronized long records() {
        return records;
    }

    /** How many faults happened. */
    synchronized long faults() {
        return faults;
    }

    /** How many records were doubled or out of order, as the documentation says that they may be. */
    synchronized long allowed() {
        return allowed;
    }

    /** Whether everything is as promised. */
    boolean isClean() {
        return Stream.of(Rule.values()).allMatch(rule -> broken(rule) == 0);
    }

    @Override
    public synchronized String toString() {
        String rules =
                Stream.of(Rule.values()).map(rule -> rule + " " + broken(rule)).collect(Collectors.joining(" "));
        return "records " + records + " faults " + faults + " " + rules + " allowed " + allowed;
    }
}
