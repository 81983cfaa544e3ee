package dev.millrace.mirror.fetch;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * What one {@link FetchSession} knows about one partition: what is wanted and what the broker was last told.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
public final class FetchSlot {
    private final TopicPartition partition;
    private final Uuid topicId;

    /** The partition fetched through this slot; null while there is none. */
    private FetchPartition owner;

    boolean wanted;
    long offset;
    int leaderEpoch;
    int maxBytes = FetchSink.UNLIMITED;

    boolean inSession;
    long sentOffset;
    int sentEpoch;
    int sentMaxBytes;

    /** Whether the slot is in the session's list of changes. */
    boolean dirty;

    FetchSlot(TopicPartition partition, Uuid topicId) {
        this.partition = partition;
        this.topicId = topicId;
    }

    public TopicPartition partition() {
        return partition;
    }

    /** Returns the topic id; {@link Uuid#ZERO_UUID} from brokers without topic ids. */
    public Uuid topicId() {
        return topicId;
    }

    /** Returns where to fetch, as in the current request. */
    public long sentOffset() {
        return sentOffset;
    }

    /** Returns the leader epoch named in the current request; -1 if it is unknown. */
    public int sentEpoch() {
        return sentEpoch;
    }

    /** Returns the most bytes that the broker should send, as in the current request. */
    public int sentMaxBytes() {
        return sentMaxBytes;
    }

    FetchPartition owner() {
        return owner;
    }

    void setOwner(FetchPartition newOwner) {
        owner = newOwner;
    }

    boolean isUpToDate() {
        return isPositionSent() && sentMaxBytes == maxBytes;
    }

    private boolean isPositionSent() {
        return inSession && sentOffset == offset && sentEpoch == leaderEpoch;
    }

    /** Whether the answer to the current request is for what is wanted now. */
    boolean isAnswerWanted() {
        return wanted && isPositionSent();
    }

    boolean hasTopicId() {
        return !topicId.equals(Uuid.ZERO_UUID);
    }
}
