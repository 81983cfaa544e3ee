package dev.millrace.weather;

import dev.millrace.testkit.oracle.Comparison;
import java.util.ArrayList;
import java.util.List;

/**
 * What is wrong with the copies of topics.
 *
 * @param records of the source
 * @param lost at the source, and not at the target
 * @param doubled further copies that nothing allows
 * @param reordered records out of order that nothing allows
 * @param changed at the target, and not in this partition of the source
 * @param aborted at the target, and at the source in aborted transactions only
 * @param allowed doubled or out of order, as the documentation says that they may be
 * @param examples where the first few are
 */
record Judgement(
        long records,
        long lost,
        long doubled,
        long reordered,
        long changed,
        long aborted,
        long allowed,
        List<String> examples) {
    static final Judgement NOTHING = new Judgement(0, 0, 0, 0, 0, 0, 0, List.of());

    /** What the documentation promises of the copy of a topic; nothing is ever lost or changed. */
    enum Promise {
        /** Each record once and in order. */
        EXACT,
        /** First copies are in order; records may be doubled, and last copies out of order. */
        AT_LEAST_ONCE,
        /** Records may be doubled and out of order. */
        ONLY_COMPLETE;

        /**
         * The promise of {@code docs/mirror.md}.
         *
         * @param wasFrozen whether a process was stopped until others took over, and went on
         */
        static Promise of(MirrorKind mirror, TopicKind topic, boolean wasFrozen) {
            if (mirror.isAtLeastOnce()) {
                return AT_LEAST_ONCE;
            }
            return mirror.isExactlyOnce() || !topic.isOld() || !wasFrozen ? EXACT : ONLY_COMPLETE;
        }
    }

    /**
     * Judges the copy of one topic.
     *
     * @param committed of what readers of committed records see of both sides
     * @param withAborted of all that the source has, with what readers of committed records see of the target
     */
    static Judgement of(Comparison committed, Comparison withAborted, Promise promise) {
        long strangers = committed.unexpected() + committed.misrouted();
        long aborted = committed.unexpected() - withAborted.unexpected();
        // A record whose content has changed is missing, too.
        long lost = committed.lost() - Math.min(committed.lost(), withAborted.unexpected());
        long outOfOrder = committed.reordered() + committed.lastReordered();
        long doubled = promise == Promise.EXACT ? committed.doubled() : 0;
        long reordered = switch (promise) {
            case EXACT -> outOfOrder;
            case AT_LEAST_ONCE -> committed.reordered();
            case ONLY_COMPLETE -> 0;
        };
        return new Judgement(
                committed.source(),
                lost,
                doubled,
                reordered,
                strangers - aborted,
                aborted,
                committed.doubled() - doubled + outOfOrder - reordered,
                committed.examples());
    }

    Judgement plus(Judgement other) {
        List<String> all = new ArrayList<>(examples);
        all.addAll(other.examples);
        return new Judgement(
                records + other.records,
                lost + other.lost,
                doubled + other.doubled,
                reordered + other.reordered,
                changed + other.changed,
                aborted + other.aborted,
                allowed + other.allowed,
                all);
    }

    /** Whether everything is as promised. */
    boolean isClean() {
        return lost == 0 && doubled == 0 && reordered == 0 && changed == 0 && aborted == 0;
    }
}
