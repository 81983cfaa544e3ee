package dev.millrace.client.accumulator;

import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * The future of one record: its place in a batch, and the result that the whole batch shares. A batch holds on to it
 * only when there is a callback to run.
 *
 * <p><b>Threads:</b> immutable; {@code get} blocks until the batch is done. It cannot be cancelled.
 */
public class RecordFuture implements Future<RecordMetadata> {
    private final BatchResult batch;
    private final int index;
    private final int keySize;
    private final int valueSize;
    private final long timestamp;

    RecordFuture(BatchResult batch, int index, EncodableRecord record) {
        this.batch = batch;
        this.index = index;
        this.keySize = record.keySize();
        this.valueSize = record.valueSize();
        this.timestamp = record.timestamp();
    }

    static RecordFuture of(BatchResult batch, int index, EncodableRecord record, Callback callback) {
        return callback == null
                ? new RecordFuture(batch, index, record)
                : new WithCallback(batch, index, record, callback);
    }

    @Override
    public RecordMetadata get() throws InterruptedException, ExecutionException {
        batch.await();
        return outcome();
    }

    @Override
    public RecordMetadata get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        if (!batch.await(timeout, unit)) {
            throw new TimeoutException("No answer for a record of " + batch.partition() + " within " + timeout + " "
                    + unit.name().toLowerCase(Locale.ROOT));
        }
        return outcome();
    }

    @Override
    public boolean isDone() {
        return batch.isDone();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return false;
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    private RecordMetadata outcome() throws ExecutionException {
        if (batch.error() != null) {
            throw new ExecutionException(batch.error());
        }
        return metadata();
    }

    RecordMetadata metadata() {
        long recordTimestamp = batch.logAppendTime() == -1 ? timestamp : batch.logAppendTime();
        return new RecordMetadata(batch.partition(), batch.baseOffset(), index, recordTimestamp, keySize, valueSize);
    }

    BatchResult batch() {
        return batch;
    }

    /** A future with something to run before it completes. */
    static final class WithCallback extends RecordFuture {
        private final Callback callback;

        WithCallback(BatchResult batch, int index, EncodableRecord record, Callback callback) {
            super(batch, index, record);
            this.callback = callback;
        }

        /** Runs the callback on the calling thread; the caller deals with what it throws. */
        void run() {
            RuntimeException error = batch().error();
            RecordMetadata metadata =
                    error == null ? metadata() : new RecordMetadata(batch().partition(), -1, -1, -1, -1, -1);
            callback.onCompletion(metadata, error);
        }
    }
}
