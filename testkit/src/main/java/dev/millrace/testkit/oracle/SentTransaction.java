package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One transaction of a producer, its records, and what the producer has told of its end. A {@link TransactionLedger}
 * makes it and judges it.
 *
 * <p><b>Threads:</b> one plays the transaction, any asks.
 */
public final class SentTransaction {
    /** What may be expected of a transaction. */
    public enum Outcome {
        /** All of it is there. */
        COMMITTED,
        /** Nothing of it is there: its end was told, or nobody ever asked to commit it. */
        ABORTED,
        /** A commit was asked for, and nothing told of it: all of it is there, or nothing. */
        UNKNOWN
    }

    private static final long NEVER = Long.MAX_VALUE;

    private final TransactionLedger ledger;
    private final int producer;
    private final int number;
    private final long begunTurn;
    private final long begunMs;
    private final List<Stamp> records = new ArrayList<>();
    private boolean isCommitting;
    private boolean isAborted;
    private long committedTurn = NEVER;
    private String end = "";

    SentTransaction(TransactionLedger ledger, int producer, int number) {
        this.ledger = ledger;
        this.producer = producer;
        this.number = number;
        begunTurn = ledger.nextTurn();
        begunMs = ledger.nowMs();
    }

    /** Enters a record just before it is sent; the value to send is made of the stamp. */
    public Stamp enter(String topic, int partition) {
        Stamp stamp = ledger.enter(this, topic, partition);
        synchronized (this) {
            records.add(stamp);
        }
        return stamp;
    }

    /** Call it just before the first call of {@code commitTransaction}. */
    public synchronized void onCommitting() {
        isCommitting = true;
    }

    /** Call it when {@code commitTransaction} has returned. */
    public synchronized void onCommitted() {
        committedTurn = ledger.nextTurn();
        end = ", committed at " + ledger.nowMs() + " ms";
    }

    /** Call it when {@code abortTransaction} has returned. */
    public synchronized void onAborted() {
        isAborted = true;
        end += ", aborted at " + ledger.nowMs() + " ms";
    }

    /** Call it when {@code commitTransaction} or another call has failed. */
    public synchronized void onFailed(Exception cause) {
        end += ", " + cause.getClass().getSimpleName() + " at " + ledger.nowMs() + " ms";
    }

    /** As it is now. */
    public synchronized Outcome outcome() {
        if (committedTurn != NEVER) {
            return Outcome.COMMITTED;
        }
        return isCommitting && !isAborted ? Outcome.UNKNOWN : Outcome.ABORTED;
    }

    // ---- for the ledger and its judge ----

    int producer() {
        return producer;
    }

    synchronized List<Stamp> records() {
        return List.copyOf(records);
    }

    /** Whether a record of it may be read by now. */
    synchronized boolean mayBeVisible() {
        return isCommitting;
    }

    /** Rises with each beginning and each end of the ledger's transactions. */
    long begunTurn() {
        return begunTurn;
    }

    /** The turn of its end if it was told as committed, else a turn after all others. */
    synchronized long committedTurn() {
        return committedTurn;
    }

    /** All that is known. */
    @Override
    public synchronized String toString() {
        return String.format(
                Locale.ROOT,
                "transaction %d of producer %d, %s, %d records, begun at %d ms%s",
                number,
                producer,
                outcome(),
                records.size(),
                begunMs,
                end);
    }
}
