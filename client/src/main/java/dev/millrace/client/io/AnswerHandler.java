package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.DuplicateSequenceException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what a broker's answer means for a batch: acknowledge it, send it again, split it, or fail it.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class AnswerHandler {
    private static final Logger log = LoggerFactory.getLogger(AnswerHandler.class);

    private final SenderSettings settings;
    private final SenderMetrics metrics;

    AnswerHandler(SenderSettings settings, SenderMetrics metrics) {
        this.settings = settings;
        this.metrics = metrics;
    }

    /** Handles the answer for one batch of the partition; callbacks do not run yet. */
    void handle(PartitionState partition, ProduceAnswer answer, long nowMs) {
        FinishedBatch batch = answer.batch();
        ApiException error = answer.error();
        partition.onRequestEnded(batch, error != null && NotWritten.isProvedBy(error));
        if (answer.isUnacknowledged()) {
            partition.onAccepted(batch);
            batch.decideUnacknowledged();
            return;
        }
        if (error == null) {
            batch.markWritten();
        }
        if (error == null || error instanceof DuplicateSequenceException) {
            partition.onAccepted(batch);
            batch.decide(answer.baseOffset(), answer.logAppendTime(), null);
            return;
        }
        if (batch.isDecided()) {
            return; // it expired in flight, and whether it was written stays unknown
        }
        boolean isSequenceError = settings.idempotent()
                && (error instanceof OutOfOrderSequenceException || error instanceof UnknownProducerIdException);
        if (isSequenceError && partition.isLaterBatchAccepted(batch)) {
            partition.onAccepted(batch);
            batch.decide(-1, -1, null);
        } else if (batch.withdrawalCauseOrNull() != null) {
            log.debug(
                    "{}: {} records are withdrawn and not sent again: {}",
                    batch.partition(),
                    batch.count(),
                    error.toString());
            partition.onFailed(batch, batch.withdrawalCauseOrNull());
            batch.decide(-1, -1, batch.withdrawalCauseOrNull());
        } else if (isSequenceError
                && partition.isFirstUndecided(batch)
                && (batch.isDoubtful() || !partition.canTakeNewEpoch())) {
            fail(partition, batch, error);
        } else if (error instanceof RecordTooLargeException && batch.count() > 1) {
            splitTooLarge(partition, batch, error);
        } else if (error instanceof CorruptRecordException && batch.isPassed()) {
            fail(partition, batch, error); // the same bytes again would be refused again
        } else if (!answer.recordErrors().isEmpty() && !(error instanceof RetriableException)) {
            failRecords(partition, batch, answer);
        } else if (!isSequenceError && !(error instanceof RetriableException)) {
            fail(partition, batch, error);
        } else if (batch.attempts() > settings.retries() || isExpired(batch, nowMs)) {
            fail(partition, batch, error);
        } else {
            sendAgain(partition, batch, error, nowMs, isSequenceError);
        }
    }

    private void sendAgain(
            PartitionState partition, FinishedBatch batch, ApiException error, long nowMs, boolean isSequenceError) {
        log.debug(
                "{}: attempt {} of a batch of {} records failed, it will be sent again: {}",
                batch.partition(),
                batch.attempts(),
                batch.count(),
                error.toString());
        metrics.onRetry(batch);
        if (isSequenceError) {
            partition.onUnexpectedSequence(batch);
        }
        partition.backOffUntil(nowMs + settings.retryBackoff().delayMs(batch.attempts()));
    }

    private void splitTooLarge(PartitionState partition, FinishedBatch batch, ApiException error) {
        log.info(
                "{}: {} records in {} bytes are split: {}",
                batch.partition(),
                batch.count(),
                batch.size(),
                error.toString());
        try {
            partition.splitTooLarge(batch);
        } catch (CorruptRecordException e) {
            fail(partition, batch, e);
            return;
        }
        metrics.onSplit();
    }

    private static void fail(PartitionState partition, FinishedBatch batch, ApiException error) {
        log.warn("{}: {} records failed: {}", batch.partition(), batch.count(), error.toString());
        partition.onFailed(batch, error);
        batch.decide(-1, -1, error);
    }

    /** The broker refuses the batch because of some of its records (KIP-467). */
    private static void failRecords(PartitionState partition, FinishedBatch batch, ProduceAnswer answer) {
        log.warn("{}: {} records failed: {}", batch.partition(), batch.count(), answer.recordErrors());
        KafkaException ofOthers = new KafkaException(
                "Nothing is wrong with this record, but the broker refused others of its batch", answer.error());
        partition.onFailed(batch, ofOthers);
        batch.decideFailed(ofOthers, answer.recordErrors());
    }

    private boolean isExpired(FinishedBatch batch, long nowMs) {
        return nowMs - batch.createdMs() >= settings.deliveryTimeoutMs();
    }
}
