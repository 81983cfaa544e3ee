package dev.millrace.client.accumulator;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.raw.BatchLayout;
import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/**
 * Opening and closing of {@link PartitionQueue}: the I/O thread finds every accepted record in some batch, and all
 * memory is released. An outcome that is not listed is forbidden.
 */
public class PartitionQueueStress {
    private static final String TOPIC = "topic";
    private static final int BUFFERS = 4;

    /** The accumulator of one partition that holds the record {@code a}. */
    private static final class Partition {
        private final ReadyQueue ready = new ReadyQueue();
        private final BufferPool pool;
        private final Accumulator accumulator;
        private final AtomicReference<PartitionQueue> queue = new AtomicReference<>();

        Partition(int batchSize) {
            pool = new BufferPool((long) BUFFERS * batchSize, batchSize, () -> {});
            accumulator = new Accumulator(pool, ReadyQueues.of(ready), BatchCodec.NONE, () -> 0, 0);
            append('a');
            accumulator.forEachQueue(ready, queue::set);
        }

        boolean append(char letter) {
            try {
                return accumulator.append(TOPIC, 0, 0, StressRecords.of(letter), null, 0) != null;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        /** What the I/O thread finds, whether closed or not: the letters of each batch, then a bar. */
        String drain() {
            PartitionQueue partition = queue.get();
            StringBuilder found = new StringBuilder();
            while (partition.hasRecords()) {
                partition.sealOldest(SealCause.LINGER);
                FinishedBatch batch = partition.peek();
                if (batch == null) {
                    return found + "not finished";
                }
                partition.take();
                found.append(StressRecords.describe(batch)).append('|');
                batch.release();
            }
            return pool.available() == pool.total() ? found.toString() : found + "and memory lost";
        }
    }

    private static int sizeFor(int records) {
        // A batch of one record gets memory for its upper bound, which is more than it needs.
        return Math.max(
                RecordEncoder.batchSizeUpperBound(StressRecords.of('a')),
                BatchLayout.HEADER_SIZE + records * StressRecords.RECORD_SIZE);
    }

    /** Two writers open the next batch at the same time; the second appends to the batch of the first. */
    @JCStressTest
    @Outcome(id = "true, true, a|bc|", expect = ACCEPTABLE, desc = "The first writer opened.")
    @Outcome(id = "true, true, a|cb|", expect = ACCEPTABLE, desc = "The second writer opened.")
    @State
    public static class TwoWritersOpen {
        private final Partition partition = new Partition(sizeFor(2));

        public TwoWritersOpen() {
            partition.queue.get().sealOldest(SealCause.LINGER);
        }

        @Actor
        public void first(ZZL_Result r) {
            r.r1 = partition.append('b');
        }

        @Actor
        public void second(ZZL_Result r) {
            r.r2 = partition.append('c');
        }

        @Arbiter
        public void end(ZZL_Result r) {
            r.r3 = partition.drain();
        }
    }

    /** A writer that must open a batch, while the producer closes. */
    @JCStressTest
    @Outcome(id = "true, false, a|b|", expect = ACCEPTABLE, desc = "Accepted before the close.")
    @Outcome(id = "false, false, a|", expect = ACCEPTABLE, desc = "Refused.")
    @State
    public static class OpenVersusClose {
        private final Partition partition = new Partition(sizeFor(1));

        @Actor
        public void writer(ZZL_Result r) {
            r.r1 = partition.append('b');
        }

        @Actor
        public void closer() {
            partition.accumulator.close();
        }

        @Arbiter
        public void end(ZZL_Result r) {
            r.r2 = partition.append('c');
            r.r3 = partition.drain();
        }
    }
}
