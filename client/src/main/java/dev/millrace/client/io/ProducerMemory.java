package dev.millrace.client.io;

/**
 * What the leader of a partition says it remembers of a producer.
 *
 * @param epoch of the producer's last batch; only if it is {@code REMEMBERED}, as is {@code lastSequence}
 * @param lastSequence of that batch; {@link #NO_SEQUENCE} if there is none in the epoch
 */
public record ProducerMemory(Kind kind, int epoch, int lastSequence) {
    public static final int NO_SEQUENCE = -1;

    /** Sequences wrap around, so the one of two that is later is the one less than half of them ahead. */
    private static final int HALF = 1 << 30;

    /** Whether there is an answer, and which. */
    public enum Kind {
        REMEMBERED,
        FORGOTTEN,
        /** The broker is too old for the question, or the producer may not ask: it would have to be allowed to read. */
        REFUSED,
        /** It is to be asked again, perhaps another broker. */
        UNANSWERED
    }

    /** An answer without numbers. */
    public static ProducerMemory without(Kind kind) {
        return new ProducerMemory(kind, -1, NO_SEQUENCE);
    }

    /** What it remembers of an epoch: nothing of a later one. */
    ProducerMemory ofEpoch(int asked) {
        return kind == Kind.REMEMBERED && epoch < asked ? new ProducerMemory(kind, asked, NO_SEQUENCE) : this;
    }

    /** Whether a batch that begins with this sequence is after all that it remembers. */
    boolean isBefore(int firstSequence) {
        return ((firstSequence - lastSequence - 1) & Integer.MAX_VALUE) < HALF;
    }
}
