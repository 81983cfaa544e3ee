package dev.millrace.mirror.fetch;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * What one {@link FetchSession} knows of one partition: what is wanted, and what the broker was told last.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
public final class FetchSlot {
    private final TopicPartition partition;
    private final Uuid topicId;

    /** The partition that is fetched by this slot; null while there is none. */
    private FetchPartition owner;

    boolean wanted;
    long offset;
    int leaderEpoch;
    int maxBytes = FetchSink.UNLIMITED;

    boolean inSession;
    long sentOffset;
    int sentEpoch;
    int sentMaxBytes;

    /** Whether it is in the session's list of changes. */
    boolean dirty;

    FetchSlot(TopicPartition partition, Uuid topicId) {
        this.partition = partition;
        this.topicId = topicId;
    }

    public TopicPartition partition() {
        return partition;
    }

    /** {@link Uuid#ZERO_UUID} from brokers without topic ids. */
    public Uuid topicId() {
        return topicId;
    }

    /** Where to fetch, as the current request says. */
    public long sentOffset() {
        return sentOffset;
    }

    /** The leader epoch that the current request names; -1 if it is unknown. */
    public int sentEpoch() {
        return sentEpoch;
    }

    /** How many bytes the broker should send at most, as the current request says. */
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
