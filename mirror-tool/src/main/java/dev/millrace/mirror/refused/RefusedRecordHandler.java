package dev.millrace.mirror.refused;

import dev.millrace.mirror.config.RefusalPolicy;
import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles the records that a {@link RefusedRecordSearch} leaves out of a partition: according to the policy it writes
 * them to the dead-letter topic or skips them, and reports them either way.
 *
 * <p><b>Threads:</b> the thread of the search.
 */
final class RefusedRecordHandler {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedRecordHandler.class);

    /** If a letter takes longer, its topic may have been deleted. */
    private static final long PATIENCE_MS = 2_000;

    private final TopicPartition partition;
    private final RefusedRecordReport refused;
    private final DeadLetters deadLetters;
    private final Runnable pause;
    private final boolean isDeadLettered;
    private final List<LeftOut> unsettled = new ArrayList<>();

    private record LeftOut(ConsumerRecord<byte[], byte[]> record, Throwable cause, CompletableFuture<Void> sent) {}

    /** @param pause before the target is tried again; may throw to end that */
    RefusedRecordHandler(
            TopicPartition partition, RefusedRecordReport refused, DeadLetters deadLetters, Runnable pause) {
        this.partition = partition;
        this.refused = refused;
        this.deadLetters = deadLetters;
        this.pause = pause;
        this.isDeadLettered = refused.policies().of(partition.topic()) == RefusalPolicy.DEAD_LETTER;
    }

    /** Adds a record; its outcome is known once it is settled. */
    void add(ConsumerRecord<byte[], byte[]> record, Throwable cause) {
        CompletableFuture<Void> sent = isDeadLettered
                ? send(() -> deadLetters.send(partition, record, cause))
                : CompletableFuture.completedFuture(null);
        unsettled.add(new LeftOut(record, cause, sent));
    }

    /** Adds all records of a batch, and waits until its dead letter is written. */
    void addAndAwait(UnreadableBatch batch) {
        if (isDeadLettered) {
            await(send(() -> deadLetters.send(partition, batch)));
        }
        tell(batch.from(), batch.records(), batch.cause());
    }

    /** Waits until the dead letters of all records are written; hands out each record, in order. */
    void settle(Consumer<ConsumerRecord<byte[], byte[]>> onSettled) {
        for (LeftOut next : unsettled) {
            await(next.sent());
            tell(next.record().offset(), 1, next.cause());
            onSettled.accept(next.record());
        }
        unsettled.clear();
    }

    private void tell(long offset, int records, Throwable cause) {
        if (isDeadLettered) {
            refused.onDeadLettered(partition, offset, records, deadLetters.topicFor(partition), cause);
        } else {
            refused.onSkipped(partition, offset, records, cause);
        }
    }

    /** Tries again as long as the target cannot take it for now. */
    private CompletableFuture<Void> send(Supplier<CompletableFuture<Void>> attempt) {
        while (true) {
            try {
                CompletableFuture<Void> sent = attempt.get();
                if (!sent.isCompletedExceptionally() || !isRetriable(sent)) {
                    return sent;
                }
                deadLetters.prepareAgain(partition);
            } catch (RetriableException e) {
                LOG.debug("No dead letter of {} can be written yet", partition, e);
            }
            pause.run();
        }
    }

    /** Creates the topic again if somebody may have deleted it. */
    private void prepareAgain() {
        try {
            deadLetters.prepareAgain(partition);
        } catch (RetriableException e) {
            LOG.debug("The topic for dead letters of {} cannot be looked at now", partition, e);
        }
    }

    private static boolean isRetriable(CompletableFuture<Void> failed) {
        try {
            failed.getNow(null);
            return false;
        } catch (CompletionException e) {
            return e.getCause() instanceof RetriableException;
        }
    }

    private void await(CompletableFuture<Void> letter) {
        while (true) {
            try {
                letter.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException e) {
                prepareAgain(); // the letter is waited for even while the mirror stops, or it might be written again
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            } catch (ExecutionException e) {
                throw MirrorException.failed(
                        "Could not write a dead letter of " + partition.topic() + " partition " + partition.partition()
                                + " to " + deadLetters.topicFor(partition) + "; nothing from there on is committed",
                        e.getCause());
            }
        }
    }
}
