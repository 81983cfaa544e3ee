package dev.millrace.mirror.member;

import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.errors.UnknownProducerIdException;

/**
 * Classifies errors of a transactional producer for a mirror.
 *
 * <p><b>Threads:</b> any; stateless.
 */
final class TransactionErrors {
    private TransactionErrors() {}

    /**
     * Returns whether the transaction is over and the same records can be written in another one. Otherwise the target
     * refuses a record, or denies access.
     */
    static boolean isTransactionOver(Throwable error) {
        if (error == null) {
            return true; // a plain KafkaException without a cause: the producer was closed
        }
        if (error.getClass() == KafkaException.class) {
            return isTransactionOver(error.getCause());
        }
        return error instanceof RetriableException
                || error instanceof CommitFailedException
                || error instanceof ProducerFencedException
                || error instanceof InvalidProducerEpochException
                || error instanceof TransactionAbortedException
                || error instanceof TransactionAbortableException
                || error instanceof OutOfOrderSequenceException
                || error instanceof UnknownProducerIdException
                || error instanceof InvalidTxnStateException
                || error instanceof InvalidPidMappingException;
    }
}
