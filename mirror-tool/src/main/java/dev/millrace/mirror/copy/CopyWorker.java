package dev.millrace.mirror.copy;

import dev.millrace.mirror.fetch.FetchedBatches;
import dev.millrace.mirror.pass.AbortedFilter;
import dev.millrace.mirror.pass.BatchCounters;
import dev.millrace.mirror.pass.RecordCursor;
import dev.millrace.mirror.pass.SourceBatch;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.ThreadCounters;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A thread that copies the partitions given to it, one after the other in the order in which they were fetched, with
 * the objects that it needs for that.
 *
 * <p><b>Threads:</b> any thread gives it work and reads the counters; its own thread uses the rest.
 */
final class CopyWorker {
    private final ExecutorService thread;
    private final Consumer<Throwable> onFailure;
    private final MirrorObserver observer;
    private final ThreadCounters records = new ThreadCounters(System.nanoTime());
    private final BatchCounters batches = new BatchCounters();
    private final SourceBatch batch = new SourceBatch();
    private final RecordCursor cursor = new RecordCursor();
    private final RecordCursor markers = new RecordCursor();
    private final AbortedFilter filter = new AbortedFilter(markers);

    /** @param onFailure is told what a copy throws, in this thread */
    CopyWorker(String name, Consumer<Throwable> onFailure, MirrorObserver observer) {
        this.observer = observer;
        this.onFailure = onFailure;
        this.thread = Executors.newSingleThreadExecutor(work -> new Thread(work, name));
    }

    /** Has the thread copy after all earlier work, and after the partition's waiting batches. Returns at once. */
    void copy(PartitionCopy copy, FetchedBatches fetched, WaitingBatches waiting, InFlightMemory.Share share) {
        if (!execute(() -> waiting.add(fetched.size(), () -> copy.copy(fetched, this, share)))) {
            fetched.release();
        }
    }

    /** Runs this after all work given before; returns false if the worker has been stopped. */
    boolean execute(Runnable work) {
        try {
            thread.execute(() -> {
                try {
                    work.run();
                } catch (Throwable failure) {
                    if (!thread.isShutdown()) { // otherwise it is the interrupt, or nobody waits for the result
                        onFailure.accept(failure);
                    }
                }
            });
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Tells the thread to end. */
    void interrupt() {
        thread.shutdownNow();
    }

    /** Waits for the end of the thread, until the deadline at most. */
    void awaitEnd(long deadlineNanos) {
        try {
            thread.awaitTermination(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    MirrorObserver observer() {
        return observer;
    }

    ThreadCounters records() {
        return records;
    }

    BatchCounters batches() {
        return batches;
    }

    SourceBatch batch() {
        return batch;
    }

    RecordCursor cursor() {
        return cursor;
    }

    AbortedFilter filter() {
        return filter;
    }
}
