package dev.millrace.client.io;

import static dev.millrace.client.accumulator.Evidence.UNKNOWN;
import static dev.millrace.client.accumulator.Evidence.UNWRITTEN;
import static dev.millrace.client.io.AnswerTable.Action.ASK;
import static dev.millrace.client.io.AnswerTable.Action.FAIL;
import static dev.millrace.client.io.AnswerTable.Action.FAIL_RECORDS;
import static dev.millrace.client.io.AnswerTable.Action.NEW_EPOCH;
import static dev.millrace.client.io.AnswerTable.Action.SEND_AGAIN;
import static dev.millrace.client.io.AnswerTable.Action.SPLIT;

import dev.millrace.client.accumulator.Evidence;
import java.util.List;

/**
 * Decides what to do about a batch that a broker, or the network, has refused. It is a table over the kind of error,
 * what all attempts together prove, and the position of the batch among those of its partition.
 *
 * <p>It assumes only this about brokers: a broker writes a batch only if it directly follows the last sequence that it
 * remembers of the producer; if it remembers nothing, it writes any batch. It may forget a producer, by the timestamps
 * of its records ({@code producer.id.expiration.ms}), may remember only its last batch, after a clean restart, and may
 * lose the end of its log. It may be older than KIP-360. So "out of order" proves only that this attempt wrote nothing.
 * An accepted later batch proves that earlier ones were written only as long as the broker cannot have forgotten the
 * producer; see {@link Doubts}.
 *
 * <p><b>Threads:</b> pure functions.
 */
final class AnswerTable {
    /** Kinds of errors. */
    enum Refusal {
        /** The sequence of an idempotent producer is not the one that the broker expects. */
        SEQUENCE,
        /** The batch is too large, and has more than one record. */
        TOO_LARGE,
        /** Another attempt may succeed. */
        RETRIABLE,
        /** The broker names the records that it refuses (KIP-467). */
        OF_RECORDS,
        /** No further attempt is made. */
        FINAL
    }

    /** Where an idempotent producer's batch is among those of its partition; without idempotence it is always first. */
    enum Position {
        /** No earlier batch is undecided, and no later one is acknowledged. */
        FIRST,
        /** An earlier batch is undecided, and no later one is acknowledged. */
        AFTER_UNDECIDED,
        /** A later batch is acknowledged. */
        OVERTAKEN
    }

    enum Action {
        SEND_AGAIN,
        SPLIT,
        /** All batches without an outcome get new sequences, in a new epoch, once none of them may be written. */
        NEW_EPOCH,
        /** The leader is asked for the last sequence that it has. */
        ASK,
        FAIL,
        /** The named records fail with their own reason, the others because of them. */
        FAIL_RECORDS
    }

    private record Row(Refusal refusal, Evidence evidence, Action first, Action afterUndecided, Action overtaken) {
        Action at(Position position) {
            return switch (position) {
                case FIRST -> first;
                case AFTER_UNDECIDED -> afterUndecided;
                case OVERTAKEN -> overtaken;
            };
        }
    }

    /**
     * If a batch is proved unwritten and overtaken, its broker has forgotten the producer after refusing it, or it
     * would not have taken the later batch. Sent again, the refused one would be in the log after that.
     */
    private static final List<Row> ROWS = List.of(
            new Row(Refusal.SEQUENCE, UNWRITTEN, NEW_EPOCH, SEND_AGAIN, FAIL),
            new Row(Refusal.SEQUENCE, UNKNOWN, ASK, SEND_AGAIN, ASK),
            new Row(Refusal.TOO_LARGE, UNWRITTEN, SPLIT, SPLIT, FAIL),
            new Row(Refusal.TOO_LARGE, UNKNOWN, SPLIT, SPLIT, SPLIT),
            new Row(Refusal.RETRIABLE, UNWRITTEN, SEND_AGAIN, SEND_AGAIN, FAIL),
            new Row(Refusal.RETRIABLE, UNKNOWN, SEND_AGAIN, SEND_AGAIN, SEND_AGAIN),
            new Row(Refusal.OF_RECORDS, UNWRITTEN, FAIL_RECORDS, FAIL_RECORDS, FAIL_RECORDS),
            new Row(Refusal.OF_RECORDS, UNKNOWN, FAIL_RECORDS, FAIL_RECORDS, FAIL_RECORDS),
            new Row(Refusal.FINAL, UNWRITTEN, FAIL, FAIL, FAIL),
            new Row(Refusal.FINAL, UNKNOWN, FAIL, FAIL, FAIL));

    private AnswerTable() {}

    /**
     * Returns what to do.
     *
     * @param evidence after this answer: {@link Evidence#UNWRITTEN} or {@link Evidence#UNKNOWN}
     * @param mayRenumber whether its sequence is the producer's own, outside a transaction
     */
    static Action actionFor(Refusal refusal, Evidence evidence, Position position, boolean mayRenumber) {
        for (Row row : ROWS) {
            if (row.refusal == refusal && row.evidence == evidence) {
                Action action = row.at(position);
                return action == NEW_EPOCH && !mayRenumber ? FAIL : action;
            }
        }
        throw new IllegalArgumentException("A refused batch is not " + evidence);
    }
}
