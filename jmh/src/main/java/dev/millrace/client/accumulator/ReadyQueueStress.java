package dev.millrace.client.accumulator;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.apache.kafka.common.TopicPartition;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Sleep and wake-up of {@link ReadyQueue}: the I/O thread never sleeps while a partition is ready, without being woken.
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

    /** One {@code offer} against one attempt to sleep. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The I/O thread slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "The I/O thread saw the partition and did not sleep.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The I/O thread saw the partition and was also woken.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "The I/O thread keeps sleeping: a lost wake-up.")
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

    /** One {@code offer} against a sleep that times out, the {@code poll} after it, and the next attempt to sleep. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The I/O thread slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "The I/O thread saw the partition and did not sleep.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The I/O thread saw the partition and was also woken.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "The I/O thread keeps sleeping: a lost wake-up.")
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
                ready.awake();
            }
            r.r2 = ready.poll() == null && ready.trySleep(UNTIL_MS);
        }
    }

    /** One {@code wake}, for a reason that is not in the queue, against one attempt to sleep. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The I/O thread slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "The I/O thread saw the wake-up and did not sleep.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The I/O thread saw the wake-up and was also woken.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "The I/O thread keeps sleeping: a lost wake-up.")
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
     * A reason that is written before {@code wake}, against a round that does not see the reason, the attempt to sleep
     * that fails because of the wake-up, and the next round.
     */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The I/O thread slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "A round saw the reason.")
    @Outcome(
            id = "true, false",
            expect = ACCEPTABLE,
            desc = "A round saw the reason, and the I/O thread was also woken.")
    @Outcome(
            id = "false, true",
            expect = FORBIDDEN,
            desc = "The I/O thread keeps sleeping without having seen the reason.")
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
