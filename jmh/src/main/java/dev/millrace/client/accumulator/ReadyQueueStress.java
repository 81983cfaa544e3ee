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
 * Sleep and wake-up of {@link ReadyQueue}: the I/O thread never sleeps on a partition without being woken.
 * {@link ReadyQueueTwins} shows that these tests can fail.
 */
public class ReadyQueueStress {
    private static final PartitionQueue PARTITION = new PartitionQueue(null, new TopicPartition("topic", 0), 0);
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
                ready.awake();
            }
            r.r2 = ready.poll() == null && ready.trySleep(UNTIL_MS);
        }
    }
}
