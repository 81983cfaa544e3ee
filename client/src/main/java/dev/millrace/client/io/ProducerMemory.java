package dev.millrace.client.io;

/**
 * What the leader of a partition says it remembers about a producer.
 *
 * @param epoch epoch of the producer's last batch; valid only if it is {@code REMEMBERED}, as is {@code lastSequence}
 * @param lastSequence last sequence of that batch; {@link #NO_SEQUENCE} if there is none in the epoch
 */
public record ProducerMemory(Kind kind, int epoch, int lastSequence) {
    public static final int NO_SEQUENCE = -1;

    /** Sequences wrap around, so of two sequences the later one is less than half of the range ahead. */
    private static final int HALF = 1 << 30;

    /** Whether there is an answer, and what kind. */
    public enum Kind {
        REMEMBERED,
        FORGOTTEN,
        /** The broker is too old for the question, or the producer may not ask because it lacks permission to read. */
        REFUSED,
        /** The question must be repeated, perhaps to another broker. */
        UNANSWERED
    }

    /** Returns an answer without epoch and sequence. */
    public static ProducerMemory without(Kind kind) {
        return new ProducerMemory(kind, -1, NO_SEQUENCE);
    }

    /** Returns what it remembers of an epoch; nothing if that epoch is later. */
    ProducerMemory ofEpoch(int asked) {
        return kind == Kind.REMEMBERED && epoch < asked ? new ProducerMemory(kind, asked, NO_SEQUENCE) : this;
    }

    /** Whether a batch that begins with this sequence is after everything that it remembers. */
    boolean isBefore(int firstSequence) {
        return ((firstSequence - lastSequence - 1) & Integer.MAX_VALUE) < HALF;
    }
}
