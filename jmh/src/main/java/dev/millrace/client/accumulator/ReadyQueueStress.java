package dev.millrace.client.accumulator;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.millrace.client.memory.BufferPool;
import org.apache.kafka.common.TopicPartition;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Sleep and wake-up of {@link ReadyQueue}: the I/O thread never sleeps on a partition without being woken.
 * {@link ReadyQueueTwins} shows that these tests can fail.
 */
public class ReadyQueueStress {
    private static final int BATCH_SIZE = 1_000;
    private static final PartitionQueue PARTITION = new PartitionQueue(
            new Accumulator(
                    new BufferPool(BATCH_SIZE, BATCH_SIZE, () -> {}),
                    ReadyQueues.forThreads(1),
                    BatchCodec.NONE,
                    () -> 0,
                    0),
            new TopicPartition("topic", 0),
            0);
    private static final long DUE_MS = 0;
    private static final long UNTIL_MS = 100;

    /** One hand-over against one attempt to sleep. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "It slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "It saw the partition in time.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "It saw the partition, and was woken needlessly.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "It sleeps on: a lost wake-up.")
    @State
    public static class OfferVersusSleep {
        private final ReadyQueue ready = new ReadyQueue();
        private boolean woken;

        public OfferVersusSleep() {
            ready.onWake(() -> woken = true);
        }

        @Actor
        public void writer(ZZ_Result r) {
            ready.offer(PARTITION, DUE_MS);
            r.r1 = woken;
        }

        @Actor
        public void io(ZZ_Result r) {
            r.r2 = ready.trySleep(UNTIL_MS);
        }
    }

    /** One hand-over against a wait that ends by itself, the look at the queue that follows, and the next sleep. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "It slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "It saw the partition in time.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "It saw the partition, and was woken needlessly.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "It sleeps on: a lost wake-up.")
    @State
    public static class OfferVersusRound {
        private final ReadyQueue ready = new ReadyQueue();
        private boolean woken;

        public OfferVersusRound() {
            ready.onWake(() -> woken = true);
        }

        @Actor
        public void writer(ZZ_Result r) {
            ready.offer(PARTITION, DUE_MS);
            r.r1 = woken;
        }

        @Actor
        public void io(ZZ_Result r) {
            if (ready.trySleep(UNTIL_MS)) {
                ready.markAwake();
            }
            r.r2 = ready.poll() == null && ready.trySleep(UNTIL_MS);
        }
    }

    /** One wake-up for what does not come through the queue, against one attempt to sleep. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "It slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "It saw in time that it is wanted.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "It saw that it is wanted, and was woken needlessly.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "It sleeps on: a lost wake-up.")
    @State
    public static class WakeVersusSleep {
        private final ReadyQueue ready = new ReadyQueue();
        private boolean woken;

        public WakeVersusSleep() {
            ready.onWake(() -> woken = true);
        }

        @Actor
        public void writer(ZZ_Result r) {
            ready.wake();
            r.r1 = woken;
        }

        @Actor
        public void io(ZZ_Result r) {
            r.r2 = ready.trySleep(UNTIL_MS);
        }
    }

    /**
     * What is written before a wake-up against a round that misses it, the attempt to sleep that fails for it, and the round
     * that follows.
     */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "It slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "A round saw what it was wanted for.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "A round saw it, and it was woken needlessly.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "It sleeps on without having seen it.")
    @State
    public static class WakeVersusRound {
        private final ReadyQueue ready = new ReadyQueue();
        private volatile boolean reason;
        private boolean woken;

        public WakeVersusRound() {
            ready.onWake(() -> woken = true);
        }

        @Actor
        public void writer(ZZ_Result r) {
            reason = true;
            ready.wake();
            r.r1 = woken;
        }

        @Actor
        public void io(ZZ_Result r) {
            boolean seen = reason;
            boolean asleep = ready.trySleep(UNTIL_MS);
            if (!asleep) {
                seen |= reason;
                asleep = ready.trySleep(UNTIL_MS);
            }
            r.r2 = asleep && !seen;
        }
    }
}
