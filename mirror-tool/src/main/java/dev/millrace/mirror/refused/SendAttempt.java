package dev.millrace.mirror.refused;

import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Collects the outcomes of records that were sent one after the other.
 *
 * <p><b>Threads:</b> the thread that sends; callbacks run in any.
 */
final class SendAttempt {
    private final List<CompletableFuture<Throwable>> outcomes = new ArrayList<>();
    /** The target offset after the last acknowledged record; callbacks come in the order of sending. */
    private volatile long targetEnd = ResumePoint.UNKNOWN;

    private final Thread sender = Thread.currentThread();
    private boolean isWithinSend;
    private boolean isRefusedAtOnce;

    Callback add() {
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        outcomes.add(outcome);
        isWithinSend = true;
        return (metadata, failure) -> {
            if (failure != null && Thread.currentThread() == sender && isWithinSend) {
                isRefusedAtOnce = true;
            }
            if (failure == null) {
                targetEnd = metadata.hasOffset() ? metadata.offset() + 1 : ResumePoint.UNKNOWN;
            }
            outcome.complete(failure);
        };
    }

    /** Returns whether the producer has not taken the last record, so that none may follow. */
    boolean isRefusedAtOnce() {
        return isRefusedAtOnce;
    }

    void await() {
        isWithinSend = false;
        try {
            for (CompletableFuture<Throwable> outcome : outcomes) {
                outcome.get();
            }
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the number of records before the first that was not written. */
    int acknowledged() {
        int count = 0;
        while (count < outcomes.size() && outcomes.get(count).join() == null) {
            count++;
        }
        return count;
    }

    /** Returns the target offset after those that are {@link #acknowledged}, or {@link ResumePoint#UNKNOWN}. */
    long targetEnd() {
        return targetEnd;
    }

    /** Returns why the first unwritten record was not written. */
    Throwable failure() {
        return outcomes.get(acknowledged()).join();
    }

    /** Returns whether it was for lack of memory or metadata. */
    boolean isRefusedForNow() {
        return isRefusedAtOnce && acknowledged() == outcomes.size() - 1 && failure() instanceof RetriableException;
    }

    /**
     * Adds to {@code known} the records that were refused individually: their failure is theirs alone, while records
     * that failed together share one. Returns whether there is one.
     */
    boolean noteRefused(List<ConsumerRecord<byte[], byte[]>> tried, Map<Long, Throwable> known) {
        IdentityHashMap<Throwable, Integer> uses = new IdentityHashMap<>();
        outcomes.stream().skip(acknowledged()).forEach(outcome -> uses.merge(outcome.join(), 1, Integer::sum));
        boolean found = false;
        for (int i = acknowledged(); i < outcomes.size(); i++) {
            Throwable failure = outcomes.get(i).join();
            if (RefusedRecordReport.isOfThisRecord(failure) && uses.get(failure) == 1) {
                known.put(tried.get(i).offset(), failure);
                found = true;
            }
        }
        return found;
    }
}
