package dev.millrace.mirror.support;

import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawProducerId;
import dev.millrace.client.raw.RawResult;
import dev.millrace.mirror.pass.SourceBatch;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.utils.ByteUtils;

/**
 * A partition of the target that notes what is written to it, in its order, and acknowledges it when the test says so.
 *
 * <p><b>Threads:</b> any; a hook may block without keeping others out.
 */
public final class FakePartition implements RawPartition {
    private final List<String> written = new ArrayList<>();
    private final List<Result> results = new ArrayList<>();
    private Result open;
    private Runnable beforeWrite = () -> {};

    /** The outcome of one batch at the target. */
    public static final class Result implements RawResult {
        private volatile boolean done;
        private volatile RuntimeException failure;

        public void acknowledge() {
            done = true;
        }

        public void fail(RuntimeException cause) {
            failure = cause;
            done = true;
        }

        @Override
        public boolean isDone() {
            return done;
        }

        @Override
        public RuntimeException failureOrNull() {
            return failure;
        }

        @Override
        public int acknowledgedBeforeFailure() {
            return 0;
        }

        @Override
        public long doneAtMs() {
            return 0;
        }

        @Override
        public long offsetOf(int record) {
            return -1;
        }
    }

    @Override
    public RawResult append(long timestamp, byte[] source, int offset, int length) {
        runHook();
        return appendKey(key(ByteBuffer.wrap(source, offset, length)));
    }

    private synchronized Result appendKey(String key) {
        if (open == null) {
            open = addResult();
        }
        written.add(key);
        return open;
    }

    private static String key(ByteBuffer record) {
        byte[] key = new byte[ByteUtils.readVarint(record)];
        record.get(key);
        return new String(key, StandardCharsets.UTF_8);
    }

    @Override
    public RawResult pass(ByteBuffer batch) {
        runHook();
        SourceBatch header = new SourceBatch();
        header.wrap(batch);
        header.moveToNext();
        return pass(header.baseOffset() + "-" + header.lastOffset());
    }

    @Override
    public void compressWith(int codecId) {}

    @Override
    public synchronized void sequenceFrom(RawProducerId id, int sequence) {
        written.add(id.id() + ":" + id.epoch() + ":" + sequence);
    }

    private synchronized Result pass(String offsets) {
        open = null;
        written.add(offsets);
        return addResult();
    }

    @Override
    public CompletableFuture<Void> withdraw(RuntimeException cause) {
        throw new UnsupportedOperationException();
    }

    private Result addResult() {
        Result result = new Result();
        results.add(result);
        return result;
    }

    private void runHook() {
        Runnable hook;
        synchronized (this) {
            hook = beforeWrite;
        }
        hook.run();
    }

    /** Sets what a writer does first; it may throw. */
    public synchronized void beforeWrite(Runnable hook) {
        beforeWrite = hook;
    }

    /** The batch that is filled takes no more records. */
    public synchronized void seal() {
        open = null;
    }

    /** The offsets of each passed batch, the key of each appended record, and the numbers that were set. */
    public synchronized List<String> written() {
        return List.copyOf(written);
    }

    /** Of the batches at the target, in their order. */
    public synchronized Result result(int batch) {
        return results.get(batch);
    }

    public synchronized boolean isAcknowledged() {
        return results.stream().allMatch(Result::isDone);
    }

    public synchronized void acknowledgeAll() {
        results.forEach(Result::acknowledge);
    }
}
