package dev.millrace.client.io;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/**
 * What is known about the open transaction, or about the one being ended. It decides whether the coordinator is told of
 * the end, and which epoch the next transaction has.
 *
 * <p><b>Threads:</b> {@code reset} and the decisions by the first I/O thread; the notes by every I/O thread; a failure
 * by any thread.
 * <p><b>Ordering:</b> one immutable value, replaced by compare-and-set, so no note is lost. It is reset before the next
 * transaction can begin.
 */
final class TransactionFacts {
    private final AtomicReference<Known> known = new AtomicReference<>(Known.ofNew(false));

    /** Whether the coordinator knows about the transaction, or about a group or partition in it. */
    enum Begun {
        NO,
        /** The coordinator was asked, and no answer says whether it did so. */
        PERHAPS,
        /** The coordinator has answered, or, with the newer protocol, a broker may inform it at any time. */
        YES
    }

    /** What failed in the transaction, in ascending order of severity. */
    enum Failed {
        NOTHING,
        /** A record failed while the transaction was open, and no broker expects it. */
        UNNUMBERED,
        /** A record failed whose sequence its broker may still expect. */
        NUMBERED,
        /** A record failed that may be written nevertheless, so the sequence that its broker expects is unknown. */
        PERHAPS_WRITTEN
    }

    /** Where the epoch of the next transaction comes from. */
    enum NextEpoch {
        KEEP,
        /** The answer to the transaction's end has it. */
        FROM_END,
        /** A separate request after the end. */
        BY_INIT,
        /**
         * The coordinator has none to give: the same epoch is used again, with the sequences that the brokers expect.
         */
        REWIND,
        /** The coordinator has none to give, and it is not known which sequences the brokers expect. */
        NONE
    }

    /**
     * A value of the facts.
     *
     * @param explicit whether partitions and groups are added before they are written to (the older protocol); else
     *     writing adds them, and the end of each transaction gives a new epoch
     */
    record Known(boolean explicit, Begun begun, Failed failed) {
        static Known ofNew(boolean explicit) {
            return new Known(explicit, Begun.NO, Failed.NOTHING);
        }

        Known withBegun(Begun least) {
            return begun.compareTo(least) >= 0 ? this : new Known(explicit, least, failed);
        }

        Known withFailed(Failed least) {
            return failed.compareTo(least) >= 0 ? this : new Known(explicit, begun, least);
        }

        /** Notes that there is a record or offsets to write. */
        Known withContent() {
            return explicit ? this : withBegun(Begun.YES);
        }

        /** Whether the coordinator must be told of the end: it knows of the transaction, or may. */
        boolean isEndTold() {
            return begun != Begun.NO;
        }

        /**
         * Returns where the next epoch comes from. With the older protocol, a failed record costs an epoch even if it
         * was never sent: the stock producer does the same, and tools and fencing rely on it.
         */
        NextEpoch nextEpoch(boolean nextIsExplicit) {
            if (!explicit) {
                return isEndTold() ? NextEpoch.FROM_END : NextEpoch.KEEP;
            }
            return failed == Failed.NOTHING && nextIsExplicit ? NextEpoch.KEEP : NextEpoch.BY_INIT;
        }

        /** Replaces {@link NextEpoch#BY_INIT} if the coordinator is too old for that (before Kafka 2.5). */
        NextEpoch nextEpochWithoutInit() {
            return failed == Failed.PERHAPS_WRITTEN ? NextEpoch.NONE : NextEpoch.REWIND;
        }
    }

    Known known() {
        return known.get();
    }

    boolean isExplicit() {
        return known().explicit;
    }

    boolean isBegun(Begun expected) {
        return known().begun == expected;
    }

    /** Resets the facts before the next transaction begins. */
    void reset(boolean nextIsExplicit) {
        known.set(Known.ofNew(nextIsExplicit));
    }

    /** Notes that there is a record or offsets to write, which begins the transaction with the newer protocol. */
    void noteContent() {
        update(Known::withContent);
    }

    /** The coordinator has added a partition or group. */
    void noteAdded() {
        update(before -> before.withBegun(Begun.YES));
    }

    /** The coordinator may have added a partition or group: a request has no answer that decides it. */
    void notePerhapsAdded() {
        update(before -> before.withBegun(Begun.PERHAPS));
    }

    void noteFailed(Failed what) {
        update(before -> before.withFailed(what));
    }

    /** Writes only if something is new, because this is called for every batch. */
    @SuppressWarnings("ReferenceEquality") // a note that adds nothing returns the same
    private void update(UnaryOperator<Known> note) {
        Known before = known();
        Known after = note.apply(before);
        while (after != before && !known.compareAndSet(before, after)) {
            before = known();
            after = note.apply(before);
        }
    }
}
