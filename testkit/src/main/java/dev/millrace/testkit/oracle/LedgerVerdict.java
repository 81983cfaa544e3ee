package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a {@link SendLedger} found, in numbers of records.
 *
 * @param sent given to the producer
 * @param acknowledged told as written
 * @param failed told as certainly not written
 * @param unknown told as failed, but possibly written
 * @param unknownButWritten those of the unknown ones that are there
 * @param expected those of the acknowledged ones that must be there, by topic: told since its last unclean election, and
 *     sent since it was created anew
 * @param violations by kind; those that did not occur are missing
 * @param tolerated what is no violation where it occurred, by kind
 * @param examples for each kind the first violations, with all that is known of the record
 */
public record LedgerVerdict(
        long sent,
        long acknowledged,
        long failed,
        long unknown,
        long unknownButWritten,
        Map<String, Long> expected,
        Map<Violation, Long> violations,
        Map<Tolerated, Long> tolerated,
        List<String> examples) {

    /** What must not happen. */
    public enum Violation {
        /** Acknowledged, and not there. */
        LOST,
        /** A further copy. */
        DOUBLED,
        /** After a later record of the same thread; of several copies the first and the last ones count. */
        REORDERED,
        /** In a topic or partition to which it was not sent, or never sent at all. */
        MISROUTED,
        /** Told as certainly not written, and there. */
        THERE_THOUGH_FAILED,
        /** In its partition, but at another offset or with another timestamp than told. */
        TOLD_WRONGLY,
        /** The callback was called again. */
        TOLD_TWICE,
        /** The callback was never called. */
        NOT_TOLD,
        /** Told after a record of the same partition with a higher offset. */
        TOLD_OUT_OF_ORDER,
        /** The future says something else than the callback. */
        FUTURE_DISAGREES,
        /** Bytes that nobody sent. */
        DAMAGED
    }

    /** What may happen because of Kafka's own semantics. */
    public enum Tolerated {
        /** Acknowledged before the partition's last unclean election. */
        ACKNOWLEDGED_BEFORE_UNCLEAN_ELECTION,
        /** Acknowledged, with an offset, before the partition's last unclean election, and not there. */
        GONE_BY_UNCLEAN_ELECTION,
        /** Acknowledged by a topic that was deleted then or later. */
        ACKNOWLEDGED_BY_DELETED_TOPIC,
        /** Acknowledged by a topic that was deleted then or later, and not there. */
        GONE_WITH_DELETED_TOPIC,
        /**
         * Told with a later timestamp than its own, which is that of another record of its batch: brokers answer a batch that
         * they have already, because an earlier answer was lost, with the latest timestamp in it, as if they had set that.
         */
        TIMESTAMP_OF_A_WHOLE_BATCH,
        /** Acknowledged without an offset, and there: the broker has the batch, but no longer knows where. */
        OFFSET_NOT_TOLD
    }

    public LedgerVerdict {
        expected = Map.copyOf(expected);
        violations = Map.copyOf(violations);
        tolerated = Map.copyOf(tolerated);
        examples = List.copyOf(examples);
    }

    /** Whether everything is as the producer told. */
    public boolean isClean() {
        return violations.isEmpty();
    }

    public long count(Violation kind) {
        return violations.getOrDefault(kind, 0L);
    }

    public long count(Tolerated kind) {
        return tolerated.getOrDefault(kind, 0L);
    }

    /** A line of numbers, one with the kinds of violations if there are any, and one for each example. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "%,d sent, %,d acknowledged, %,d failed, %,d unknown",
                sent,
                acknowledged,
                failed,
                unknown));
        if (!isClean()) {
            lines.add(new EnumMap<>(violations).toString());
        }
        lines.addAll(examples);
        return String.join("\n  ", lines);
    }
}
