package dev.millrace.client.io;

import org.apache.kafka.common.Uuid;

/**
 * What the I/O thread knows about a partition's leader: how many batches may be in flight to it, and from when on.
 *
 * <p>After a new leader, leader epoch or topic id the broker may not know this producer, and would then accept any
 * sequence as the first (KAFKA-15591); and it may have forgotten the producer while the producer was idle. So only one
 * batch is in flight until the leader has accepted one. After an error it has to accept one again.
 *
 * <p><b>Threads:</b> the partition's I/O thread.
 */
final class LeaderState {
    private final int maxInFlight;

    /** The broker to which a batch was sent last. */
    private int node = Integer.MIN_VALUE;

    private int epoch = Integer.MIN_VALUE;
    private Uuid topicId;
    private boolean hasAccepted;

    /**
     * Grows with each new leader, leader epoch or topic id: an answer to a batch sent in an earlier term says nothing
     * about the current leader.
     */
    private int term;

    private long notBeforeMs = Long.MIN_VALUE;
    private final AnswerTime accepted;

    LeaderState(int maxInFlight, BrokerMemory memory) {
        this.maxInFlight = maxInFlight;
        this.accepted = new AnswerTime(memory);
    }

    /** Notes the topic id and leader epoch of the current image. */
    void update(Uuid newTopicId, int newEpoch) {
        if (newEpoch != epoch || !newTopicId.equals(topicId)) {
            epoch = newEpoch;
            topicId = newTopicId;
            startTerm();
        }
    }

    /** Notes the broker to which a batch is about to be sent. */
    void updateNode(int newNode) {
        if (newNode != node) {
            node = newNode;
            startTerm();
        }
    }

    /** Only the former leader was to be left alone, so the new one is asked or gets a batch at once (KIP-951). */
    private void startTerm() {
        term++;
        hasAccepted = false;
        notBeforeMs = Long.MIN_VALUE;
    }

    /** Returns the number of the current term. */
    int term() {
        return term;
    }

    /** Whether no further batch may be sent to broker {@code leader} while {@code inFlight} are in flight. */
    boolean isBlocked(int leader, int inFlight, long nowMs) {
        int allowed = hasAccepted && leader == node ? maxInFlight : 1;
        if (inFlight >= allowed) {
            return true;
        }
        // Batches in flight to the former leader must be answered first.
        return leader == node ? nowMs < notBeforeMs : inFlight > 0;
    }

    /** A leader has accepted the partition's first batch without an outcome, which was sent in this term. */
    void onAccepted(int sentInTerm, long nowMs) {
        if (sentInTerm == term) {
            hasAccepted = true;
            accepted.note(nowMs);
            notBeforeMs = Long.MIN_VALUE;
        }
    }

    /** A batch is about to be sent while none is in flight. */
    void onSendingAlone(long nowMs) {
        hasAccepted &= accepted.isRecent(nowMs);
    }

    /** Only one batch may be in flight until the leader has accepted one. */
    void requireAcceptance() {
        hasAccepted = false;
    }

    /**
     * The leader of this term has refused a batch, or not answered: for the rest of the term it gets nothing before this
     * time, then one batch until it has accepted one.
     */
    void backOffUntil(int refusedInTerm, long backoffUntilMs) {
        requireAcceptance();
        if (refusedInTerm == term) {
            notBeforeMs = backoffUntilMs;
        }
    }

    /** Returns the time before which nothing is sent to the leader that refused a batch. */
    long notBeforeMs() {
        return notBeforeMs;
    }
}
