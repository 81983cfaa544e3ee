package dev.millrace.client.io;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.ConcurrentTransactionsException;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.IllegalGenerationException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotCoordinatorException;
import org.apache.kafka.common.errors.OperationNotAttemptedException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * What an error means for a transaction and its producer; the same as for the stock client.
 *
 * <p><b>Threads:</b> any; stateless.
 */
final class TransactionErrors {
    private TransactionErrors() {}

    /** Requests to coordinators. */
    enum Request {
        FIND_COORDINATOR,
        INIT,
        ADD_PARTITIONS,
        ADD_OFFSETS,
        COMMIT_OFFSETS,
        COMMIT,
        ABORT
    }

    /** What to do about an error, in ascending order of severity. */
    enum Remedy {
        /** Repeat the request. */
        RETRY,
        /** Find the coordinator, then repeat the request. */
        FIND_COORDINATOR,
        /** The call has failed and may be repeated. */
        REFUSE_CALL,
        /** The transaction must be aborted. */
        ABORT,
        /** The producer must be closed. */
        CLOSE
    }

    /** What to do, and the error for the application. */
    record Verdict(Remedy remedy, RuntimeException error) {}

    /** Returns what this error of a request means. */
    static Verdict of(Request request, KafkaException error) {
        if (error instanceof RetriableException) {
            return new Verdict(isOfConnectionOrMove(error) ? Remedy.FIND_COORDINATOR : Remedy.RETRY, error);
        }
        if (error instanceof ProducerFencedException || error instanceof InvalidProducerEpochException) {
            return new Verdict(Remedy.CLOSE, new ProducerFencedException(error.getMessage()));
        }
        if (request == Request.INIT
                && (error instanceof TransactionalIdAuthorizationException
                        || error instanceof ClusterAuthorizationException)) {
            return new Verdict(Remedy.REFUSE_CALL, error);
        }
        if (request == Request.COMMIT_OFFSETS
                && (error instanceof UnknownMemberIdException || error instanceof IllegalGenerationException)) {
            return new Verdict(
                    Remedy.ABORT,
                    new CommitFailedException("The consumer group has gone on without this member, or with another"
                            + " generation of it: " + error.getMessage()));
        }
        if (isAbortable(request, error)) {
            return request == Request.ABORT
                    ? new Verdict(Remedy.CLOSE, new KafkaException("The transaction could not be aborted", error))
                    : new Verdict(Remedy.ABORT, error);
        }
        if (isToldAsItIs(error)) {
            return new Verdict(Remedy.CLOSE, error);
        }
        KafkaException unexpected =
                new KafkaException("Unexpected error of request " + request + ": " + error.getMessage(), error);
        return new Verdict(request == Request.ADD_PARTITIONS ? Remedy.ABORT : Remedy.CLOSE, unexpected);
    }

    /** Whether the request is repeated after this error. */
    static boolean isRepeated(Request request, KafkaException error) {
        return of(request, error).remedy().compareTo(Remedy.FIND_COORDINATOR) <= 0;
    }

    /** Returns the error with the worst remedy. */
    static ApiException worst(Request request, Collection<ApiException> errors) {
        return errors.stream()
                .max(Comparator.comparing(error -> of(request, error).remedy()))
                .orElseThrow();
    }

    /**
     * Returns the partition error that decides what to do: a permanent one if there is any, otherwise one that may
     * pass, such as a topic that the broker does not know yet. "Operation not attempted" says nothing about its
     * partition.
     */
    static ApiException decisiveForPartitions(Collection<ApiException> errors) {
        ApiException worst = worst(Request.ADD_PARTITIONS, errors);
        List<ApiException> passing =
                errors.stream().filter(RetriableException.class::isInstance).toList();
        if (of(Request.ADD_PARTITIONS, worst).remedy() == Remedy.CLOSE) {
            return worst;
        }
        if (!passing.isEmpty()) {
            return worst(Request.ADD_PARTITIONS, passing);
        }
        return errors.stream()
                .filter(error -> !(error instanceof OperationNotAttemptedException))
                .findFirst()
                .orElse(worst);
    }

    /** Whether these errors mean that no partition of the request was added. */
    static boolean isNothingAdded(Collection<ApiException> errors) {
        return errors.stream()
                .anyMatch(error -> error instanceof UnknownTopicOrPartitionException
                        || error instanceof OperationNotAttemptedException
                        || error instanceof ConcurrentTransactionsException);
    }

    private static boolean isOfConnectionOrMove(KafkaException error) {
        return error instanceof NotCoordinatorException
                || error instanceof CoordinatorNotAvailableException
                || error instanceof NetworkException
                || error instanceof TimeoutException;
    }

    private static boolean isAbortable(Request request, KafkaException error) {
        if (error instanceof UnknownProducerIdException || error instanceof TopicAuthorizationException) {
            return request != Request.COMMIT_OFFSETS;
        }
        return error instanceof TransactionAbortableException
                || error instanceof GroupAuthorizationException
                || error instanceof FencedInstanceIdException;
    }

    private static boolean isToldAsItIs(KafkaException error) {
        return error instanceof TransactionalIdAuthorizationException
                || error instanceof ClusterAuthorizationException
                || error instanceof InvalidTxnStateException
                || error instanceof InvalidPidMappingException
                || error instanceof UnsupportedVersionException
                || error instanceof UnsupportedForMessageFormatException
                || error instanceof AuthenticationException;
    }

    /** Whether the producer cannot have further transactions after a record failed with this error. */
    static boolean isFatalForRecords(RuntimeException error) {
        return error instanceof ClusterAuthorizationException
                || error instanceof TransactionalIdAuthorizationException
                || error instanceof ProducerFencedException
                || error instanceof UnsupportedVersionException
                || error instanceof InvalidPidMappingException;
    }

    /** Returns the error of a transaction whose record failed with this error, if it is not fatal. */
    static RuntimeException abortableForRecords(RuntimeException error) {
        // With the error itself the application would send again and write records twice.
        boolean wouldBeRetried = error instanceof RetriableException || error instanceof InvalidTxnStateException;
        if (!wouldBeRetried) {
            return error;
        }
        KafkaException abortable =
                new TransactionAbortableException("A record of the transaction could not be written in time");
        abortable.initCause(error); // before 4.1 it has no constructor for that
        return abortable;
    }
}
