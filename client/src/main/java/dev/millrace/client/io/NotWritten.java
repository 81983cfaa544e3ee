package dev.millrace.client.io;

import java.util.Set;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidRequiredAcksException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnsupportedCompressionTypeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * The errors that prove that a request wrote nothing, from the broker, or from the network client before sending. All
 * other errors leave that open: even "not leader" or "unknown topic" may come from a leader that wrote the batch and
 * then lost its role or the topic while it waited for the replicas.
 */
final class NotWritten {
    /** Errors from checks that a leader makes before it writes. */
    private static final Set<Class<? extends ApiException>> ERRORS = Set.of(
            ClusterAuthorizationException.class,
            CorruptRecordException.class,
            InvalidProducerEpochException.class,
            InvalidRecordException.class,
            InvalidRequiredAcksException.class,
            InvalidTimestampException.class,
            InvalidTopicException.class,
            NotEnoughReplicasException.class,
            OutOfOrderSequenceException.class,
            ProducerFencedException.class,
            RecordBatchTooLargeException.class,
            RecordTooLargeException.class,
            TopicAuthorizationException.class,
            TransactionalIdAuthorizationException.class,
            UnknownProducerIdException.class,
            UnsupportedCompressionTypeException.class,
            UnsupportedForMessageFormatException.class,
            UnsupportedVersionException.class);

    private NotWritten() {}

    /** Whether the attempt that ended with this error wrote nothing; an earlier attempt may have written. */
    static boolean isProvedBy(ApiException error) {
        return ERRORS.contains(error.getClass());
    }
}
