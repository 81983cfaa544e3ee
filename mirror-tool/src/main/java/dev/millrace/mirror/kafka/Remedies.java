package dev.millrace.mirror.kafka;

import dev.millrace.kafka.common.protocol.Errors;
import dev.millrace.mirror.fetch.PartitionAnswer.Outcome;
import dev.millrace.mirror.fetch.Remedy;
import org.apache.kafka.common.errors.RetriableException;

/** Decides what to do about each error that a broker can name for one partition. */
final class Remedies {
    private Remedies() {}

    static Outcome of(short errorCode) {
        if (errorCode == Errors.NONE.code()) {
            return Outcome.OK;
        }
        Errors error = Errors.forCode(errorCode);
        return new Outcome(remedy(error), error.exception());
    }

    private static Remedy remedy(Errors error) {
        return switch (error) {
            case OFFSET_OUT_OF_RANGE -> Remedy.RESET_OFFSET;
            case NOT_LEADER_OR_FOLLOWER,
                    FENCED_LEADER_EPOCH,
                    LEADER_NOT_AVAILABLE,
                    REPLICA_NOT_AVAILABLE,
                    BROKER_NOT_AVAILABLE,
                    KAFKA_STORAGE_ERROR,
                    OFFSET_NOT_AVAILABLE -> Remedy.FIND_LEADER;
            // The topic id is unknown: metadata is out of date or the topic is gone; the next answer tells which.
            case UNKNOWN_TOPIC_ID, INCONSISTENT_TOPIC_ID -> Remedy.FIND_LEADER;
            // The broker has not heard of the epoch yet.
            case UNKNOWN_LEADER_EPOCH -> Remedy.ASK_AGAIN;
            case UNKNOWN_TOPIC_OR_PARTITION, CORRUPT_MESSAGE -> Remedy.TELL_AND_ASK_AGAIN;
            // A broker also says this when its remote storage fails.
            case UNKNOWN_SERVER_ERROR, REQUEST_TIMED_OUT, THROTTLING_QUOTA_EXCEEDED -> Remedy.ASK_AGAIN;
            // A failure that stops a partition must not look as if it were retried, or the sink would wait forever.
            default -> error.exception() instanceof RetriableException ? Remedy.TELL_AND_ASK_AGAIN : Remedy.STOP;
        };
    }
}
