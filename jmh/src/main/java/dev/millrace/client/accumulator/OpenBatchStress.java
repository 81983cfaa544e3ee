package dev.millrace.client.accumulator;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import dev.millrace.client.memory.BufferPool;
import dev.millrace.client.raw.BatchLayout;
import org.apache.kafka.common.TopicPartition;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.ZLL_Result;

/**
 * Claim, commit, seal and finish of {@link OpenBatch}. In any order of events a sealed batch is finished exactly once,
 * holds every accepted record completely when it is finished, and its callbacks run in offset order. An outcome that is
 * not listed is forbidden. {@link OpenBatchTwins} shows that these tests can fail.
 */
public class OpenBatchStress {
    private static final String NOT_FINISHED = "not finished";

    /** An open batch that holds the record {@code a}, and the calls that the actors make. */
    private static final class Batch {
        private final ReadyQueue ready = new ReadyQueue();
        private final StringBuilder callbacks = new StringBuilder();
        private final OpenBatch open;

        Batch(int room) {
            int size = BatchLayout.HEADER_SIZE + room * StressRecords.RECORD_SIZE;
            BufferPool pool = new BufferPool(size, size, () -> {});
            Accumulator accumulator = new Accumulator(pool, ReadyQueues.of(ready), BatchCodec.NONE, () -> 0, 0);
            PartitionQueue queue = new PartitionQueue(accumulator, new TopicPartition("topic", 0), 0);
            open = new OpenBatch(queue, null, new byte[size], size, 0, 0, 0);
            append('a');
        }

        boolean append(char letter) {
            return open.tryAppend(StressRecords.of(letter), (metadata, error) -> callbacks.append(letter)) != null;
        }

        /** What the I/O thread finds now. */
        String readFinished() {
            FinishedBatch finished = open.finished();
            return finished == null ? NOT_FINISHED : StressRecords.describe(finished);
        }

        /** What the I/O thread finds in the end, after it has completed the batch. */
        String completeAndRead() {
            int times = 0;
            while (ready.poll() != null) {
                times++;
            }
            String letters = readFinished();
            if (letters.equals(NOT_FINISHED)) {
                return letters;
            }
            if (times != 1) {
                return "finished " + times + " times";
            }
            open.finished().decide(0, -1, null);
            open.finished().deliver();
            return letters.contentEquals(callbacks) ? letters : letters + " with callbacks " + callbacks;
        }
    }

    /** A writer against the I/O thread, which seals because of linger and then reads. */
    @JCStressTest
    @Outcome(id = "true, ab, ab", expect = ACCEPTABLE, desc = "Accepted; the I/O thread found it finished.")
    @Outcome(
            id = "true, not finished, ab",
            expect = ACCEPTABLE,
            desc = "Accepted; the writer finished after the I/O thread had read.")
    @Outcome(id = "false, a, a", expect = ACCEPTABLE, desc = "Sealed before the claim.")
    @State
    public static class AppendVersusSeal {
        private final Batch batch = new Batch(3);

        @Actor
        public void writer(ZLL_Result r) {
            r.r1 = batch.append('b');
        }

        @Actor
        public void io(ZLL_Result r) {
            batch.open.seal();
            r.r2 = batch.readFinished();
        }

        @Arbiter
        public void end(ZLL_Result r) {
            r.r3 = batch.completeAndRead();
        }
    }

    /** Two writers with two records each, and room for two; a writer that finds no room seals. */
    @JCStressTest
    @Outcome(id = "bb, , abb", expect = ACCEPTABLE, desc = "The first writer took both places.")
    @Outcome(id = "b, c, abc", expect = ACCEPTABLE, desc = "One each.")
    @Outcome(id = "b, c, acb", expect = ACCEPTABLE, desc = "One each.")
    @Outcome(id = ", cc, acc", expect = ACCEPTABLE, desc = "The second writer took both places.")
    @State
    public static class TwoWritersFill {
        private final Batch batch = new Batch(3);

        @Actor
        public void first(LLL_Result r) {
            r.r1 = twice('b');
        }

        @Actor
        public void second(LLL_Result r) {
            r.r2 = twice('c');
        }

        private String twice(char letter) {
            String in = batch.append(letter) ? "" + letter : "";
            return batch.append(letter) ? in + letter : in;
        }

        @Arbiter
        public void end(LLL_Result r) {
            r.r3 = batch.completeAndRead();
        }
    }

    /** The last record fits exactly, so the writer that fills the batch does not seal it; the next one does. */
    @JCStressTest
    @Outcome(id = "true, false, ab", expect = ACCEPTABLE, desc = "The second writer found it full.")
    @Outcome(id = "false, true, ac", expect = ACCEPTABLE, desc = "The first writer found it full.")
    @State
    public static class TwoWritersForOnePlace {
        private final Batch batch = new Batch(2);

        @Actor
        public void first(LLL_Result r) {
            r.r1 = batch.append('b');
        }

        @Actor
        public void second(LLL_Result r) {
            r.r2 = batch.append('c');
        }

        @Arbiter
        public void end(LLL_Result r) {
            r.r3 = batch.completeAndRead();
        }
    }
}
