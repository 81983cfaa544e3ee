package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.AnswerTable.Refusal;
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
 * Applies a broker's answer to a batch: acknowledges it, or does what {@link AnswerTable} says about its refusal.
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
            partition.onAccepted(batch, nowMs);
            batch.decideUnacknowledged();
        } else if (error == null || error instanceof DuplicateSequenceException) {
            partition.onAccepted(batch, nowMs);
            batch.decide(answer.baseOffset(), answer.logAppendTime(), null);
        } else if (!batch.isDecided()) { // otherwise it expired in flight, and its records have been told
            partition.onRefused(batch);
            onRefused(partition, answer, nowMs);
        }
    }

    private void onRefused(PartitionState partition, ProduceAnswer answer, long nowMs) {
        FinishedBatch batch = answer.batch();
        ApiException error = answer.error();
        Refusal refusal = refusalBy(answer, nowMs);
        if (refusal == Refusal.SEQUENCE) {
            batch.onAbsenceOver();
        }
        AnswerTable.Position position = partition.positionOf(batch);
        switch (AnswerTable.actionFor(refusal, batch.evidence(), position, partition.mayRenumber())) {
            case SEND_AGAIN -> sendAgain(partition, batch, error, nowMs);
            case NEW_EPOCH, ASK -> {
                sendAgain(partition, batch, error, nowMs);
                partition.onUnexpectedSequence(batch);
            }
            case SPLIT -> splitTooLarge(partition, batch, error);
            case FAIL_RECORDS -> failRecords(partition, answer);
            case FAIL -> fail(partition, batch, causeOf(batch, error, refusal, position));
        }
    }

    private Refusal refusalBy(ProduceAnswer answer, long nowMs) {
        FinishedBatch batch = answer.batch();
        ApiException error = answer.error();
        boolean mayTryAgain = batch.attempts() <= settings.retries() && !isExpired(batch, nowMs);
        if (batch.withdrawalCauseOrNull() != null) {
            return Refusal.FINAL;
        }
        if (settings.idempotent()
                && (error instanceof OutOfOrderSequenceException || error instanceof UnknownProducerIdException)) {
            return mayTryAgain ? Refusal.SEQUENCE : Refusal.FINAL;
        }
        if (error instanceof RecordTooLargeException && batch.count() > 1) {
            return Refusal.TOO_LARGE;
        }
        if (error instanceof CorruptRecordException && batch.isPassed()) {
            return Refusal.FINAL; // the same bytes again would be refused again
        }
        if (error instanceof RetriableException) {
            return mayTryAgain ? Refusal.RETRIABLE : Refusal.FINAL;
        }
        return answer.recordErrors().isEmpty() ? Refusal.FINAL : Refusal.OF_RECORDS;
    }

    private static RuntimeException causeOf(
            FinishedBatch batch, ApiException error, Refusal refusal, AnswerTable.Position position) {
        if (batch.withdrawalCauseOrNull() != null) {
            return batch.withdrawalCauseOrNull();
        }
        return refusal != Refusal.FINAL && position == AnswerTable.Position.OVERTAKEN ? Doubts.overtaken(batch) : error;
    }

    private void sendAgain(PartitionState partition, FinishedBatch batch, ApiException error, long nowMs) {
        log.debug(
                "{}: attempt {} of a batch of {} records failed, it will be sent again: {}",
                batch.partition(),
                batch.attempts(),
                batch.count(),
                error.toString());
        metrics.onRetry(batch);
        partition.backOffUntil(batch, nowMs + settings.retryBackoff().delayMs(batch.attempts()));
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

    private static void fail(PartitionState partition, FinishedBatch batch, RuntimeException error) {
        if (error == batch.withdrawalCauseOrNull()) {
            log.debug("{}: {} records were in flight, and are withdrawn", batch.partition(), batch.count());
        } else {
            log.warn("{}: {} records failed: {}", batch.partition(), batch.count(), error.toString());
        }
        partition.onFailed(batch, error);
        batch.decide(-1, -1, error);
    }

    /** The broker refuses the batch because of some of its records (KIP-467). */
    private static void failRecords(PartitionState partition, ProduceAnswer answer) {
        FinishedBatch batch = answer.batch();
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
