package dev.millrace.client.accumulator;

import dev.millrace.client.memory.BufferPool;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;

/** An accumulator with all that it needs, on a clock that tests drive. */
final class TestAccumulator {
    static final long LINGER_MS = 10;

    final AtomicLong clockMs = new AtomicLong(1_000_000);
    final ReadyQueue ready = new ReadyQueue();
    final BufferPool pool;
    final Accumulator accumulator;

    TestAccumulator(long memory, int batchSize) {
        this(memory, batchSize, BatchCodec.NONE);
    }

    TestAccumulator(long memory, int batchSize, BatchCodec codec) {
        pool = new BufferPool(memory, batchSize, ready::wake);
        accumulator = new Accumulator(pool, ReadyQueues.of(ready), codec, clockMs::get, LINGER_MS);
    }

    /** A queue that the accumulator does not list, for tests of one batch. */
    PartitionQueue queue(int id) {
        return new PartitionQueue(accumulator, new TopicPartition("t", id), id);
    }

    OpenBatch openBatch(int size, long baseTimestamp) {
        return new OpenBatch(
                queue(0), null, new byte[size], size, clockMs.get(), accumulator.lingerUntilMs(), baseTimestamp);
    }

    RecordFuture append(String topic, int partition, TestRecord record, long maxBlockMs) throws InterruptedException {
        return accumulator.append(topic, 0, partition, record.encodable(), null, maxBlockMs);
    }
}
