package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a {@link TransactionLedger} found.
 *
 * @param transactions begun
 * @param committed told as committed
 * @param aborted told as aborted, or never asked to be committed
 * @param unknown asked to be committed, and nothing told
 * @param unknownButVisible those of the unknown ones that are there
 * @param records that are there
 * @param violations by kind; those that did not occur are missing
 * @param examples for each kind the first violations, with all that is known of the transaction
 */
public record TransactionVerdict(
        long transactions,
        long committed,
        long aborted,
        long unknown,
        long unknownButVisible,
        long records,
        Map<Violation, Long> violations,
        List<String> examples) {

    /** What must not happen. */
    public enum Violation {
        /** A record of a committed transaction is not there. */
        LOST,
        /** A transaction was aborted, or never asked to be committed, and records of it are there. */
        ABORTED_READ,
        /** A record was read before anybody had asked to commit it. */
        DIRTY_READ,
        /** Some records are there of a transaction whose outcome is unknown, and others are not. */
        PARTIAL,
        /** A record is there a second time. */
        DOUBLED,
        /** After a later record of the same producer, or of a transaction that began when its own was committed. */
        REORDERED,
        /** In a topic or partition to which it was not sent, or never sent at all. */
        MISROUTED,
        /** A consumer that read meanwhile read something else than what is there in the end, or left something out. */
        UNREPEATABLE,
        /** A consumer that read meanwhile has read nothing, though records are there: so it has shown nothing. */
        NOTHING_READ,
        /** Bytes that nobody sent. */
        DAMAGED
    }

    public TransactionVerdict {
        violations = Map.copyOf(violations);
        examples = List.copyOf(examples);
    }

    /** Whether everything is as the producers told. */
    public boolean isClean() {
        return violations.isEmpty();
    }

    public long count(Violation kind) {
        return violations.getOrDefault(kind, 0L);
    }

    /** A line of numbers, one with the kinds of violations if there are any, and one for each example. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "%,d transactions: %,d committed, %,d aborted, %,d unknown, of which %,d are there; %,d records",
                transactions,
                committed,
                aborted,
                unknown,
                unknownButVisible,
                records));
        if (!isClean()) {
            lines.add(new EnumMap<>(violations).toString());
        }
        lines.addAll(examples);
        return String.join("\n  ", lines);
    }
}
