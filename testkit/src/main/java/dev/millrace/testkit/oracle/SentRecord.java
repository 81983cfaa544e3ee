package dev.millrace.testkit.oracle;

import java.util.Locale;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * One record that a producer was given, and what it has told of it. A {@link SendLedger} makes it and judges it.
 *
 * <p><b>Threads:</b> any.
 */
public final class SentRecord {
    /** What the producer has told. */
    public enum Outcome {
        /** Nothing yet. */
        NONE,
        /** Written, at a place that it has named. */
        ACKNOWLEDGED,
        /** Not written, for certain. */
        FAILED,
        /** Failed, but it may have been written. */
        UNKNOWN
    }

    private final SendLedger ledger;
    private final Stamp stamp;
    private final int generation;
    private final long sentMs;
    private Outcome outcome = Outcome.NONE;
    private int calls;
    private long turn;
    private long toldMs;
    private RecordMetadata place;
    private String error;
    private String disagreement;

    SentRecord(SendLedger ledger, Stamp stamp, int generation) {
        this.ledger = ledger;
        this.stamp = stamp;
        this.generation = generation;
        sentMs = ledger.nowMs();
    }

    /** The value to send is made of it. */
    public Stamp stamp() {
        return stamp;
    }

    /** Call it when the producer's callback says that the record is written. */
    public synchronized void onAcknowledged(RecordMetadata metadata) {
        onOutcome(Outcome.ACKNOWLEDGED);
        place = metadata;
    }

    /**
     * Call it when the producer's callback says that the record has failed.
     *
     * @param mayBeWritten whether the producer cannot tell if the record was written
     */
    public synchronized void onFailed(boolean mayBeWritten, Exception cause) {
        onOutcome(mayBeWritten ? Outcome.UNKNOWN : Outcome.FAILED);
        error = cause.getClass().getSimpleName().intern(); // one string for many records
    }

    /** Call it with the result of the record's future, which is done. */
    public synchronized void onFutureAcknowledged(RecordMetadata metadata) {
        if (outcome != Outcome.ACKNOWLEDGED || !isSamePlace(place, metadata)) {
            disagreement = "the future says offset " + metadata.offset() + " of " + metadata;
        }
    }

    /** Call it when the record's future, which is done, has thrown. */
    public synchronized void onFutureFailed() {
        if (outcome != Outcome.FAILED && outcome != Outcome.UNKNOWN) {
            disagreement = "the future says that it failed";
        }
    }

    private void onOutcome(Outcome told) {
        calls++;
        if (calls == 1) {
            outcome = told;
            toldMs = ledger.nowMs();
            turn = ledger.nextTurn();
        }
    }

    private static boolean isSamePlace(RecordMetadata one, RecordMetadata other) {
        return one.offset() == other.offset()
                && one.partition() == other.partition()
                && one.timestamp() == other.timestamp();
    }

    // ---- for the ledger and its judge ----

    int generation() {
        return generation;
    }

    synchronized Outcome outcome() {
        return outcome;
    }

    /** How often the callback was called. */
    synchronized int calls() {
        return calls;
    }

    /** Rises with each callback of the ledger's records. */
    synchronized long turn() {
        return turn;
    }

    /** When its first callback was called, on the clock of the ledger. */
    synchronized long toldMs() {
        return toldMs;
    }

    /** Where it is, as the producer told; null unless acknowledged. */
    synchronized RecordMetadata place() {
        return place;
    }

    /** In which way the future says something else than the callback; null if they agree. */
    synchronized String disagreement() {
        return disagreement;
    }

    /** All that is known. */
    @Override
    public synchronized String toString() {
        String told = switch (outcome) {
            case NONE -> "no outcome";
            case ACKNOWLEDGED ->
                "acknowledged at " + toldMs + " ms: partition " + place.partition() + ", offset " + place.offset()
                        + ", timestamp " + place.timestamp();
            case FAILED -> "failed at " + toldMs + " ms, certainly not written: " + error;
            case UNKNOWN -> "failed at " + toldMs + " ms, possibly written: " + error;
        };
        String partition = stamp.partition() < 0 ? "any partition" : "partition " + stamp.partition();
        return String.format(
                Locale.ROOT,
                "thread %d, sequence %d, to %s, %s, sent at %d ms, %s",
                stamp.thread(),
                stamp.sequence(),
                stamp.topic(),
                partition,
                sentMs,
                told);
    }
}
