package dev.millrace.client.accumulator;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Copies of the sleep and wake-up of {@link ReadyQueue} that use only release stores and acquire loads, so that only
 * the full fences order a store before a later load. Without the fences the copy must fail.
 */
public class ReadyQueueTwins {
    private static class Copy {
        private static final long AWAKE = Long.MIN_VALUE;
        private static final VarHandle ELEMENT;
        private static final VarHandle SLEEP_UNTIL;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                ELEMENT = lookup.findVarHandle(Copy.class, "element", Object.class);
                SLEEP_UNTIL = lookup.findVarHandle(Copy.class, "sleepUntil", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        @SuppressWarnings("UnusedVariable") // used through ELEMENT
        private Object element;

        @SuppressWarnings("UnusedVariable") // used through SLEEP_UNTIL
        private long sleepUntil = AWAKE;

        /** Returns whether it woke the I/O thread. */
        final boolean offer(Object partition, long dueMs) {
            ELEMENT.setRelease(this, partition);
            fence();
            long until = (long) SLEEP_UNTIL.getAcquire(this);
            return until > dueMs && SLEEP_UNTIL.compareAndSet(this, until, AWAKE);
        }

        final boolean trySleep(long untilMs) {
            SLEEP_UNTIL.setRelease(this, untilMs);
            fence();
            if (ELEMENT.getAcquire(this) == null) {
                return true;
            }
            SLEEP_UNTIL.setRelease(this, AWAKE);
            return false;
        }

        void fence() {
            VarHandle.fullFence();
        }
    }

    /** With both fences; shows that the copy is faithful. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The I/O thread slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "The I/O thread saw the partition and did not sleep.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The I/O thread saw the partition and was also woken.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "The I/O thread keeps sleeping: a lost wake-up.")
    @State
    public static class FaithfulCopy {
        private final Copy ready = new Copy();

        @Actor
        public void writer(ZZ_Result r) {
            r.r1 = ready.offer("partition", 0);
        }

        @Actor
        public void io(ZZ_Result r) {
            r.r2 = ready.trySleep(100);
        }
    }

    /** Without the fences each side may read before its own store is visible. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "The I/O thread slept and was woken.")
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "The I/O thread saw the partition and did not sleep.")
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The I/O thread saw the partition and was also woken.")
    @Outcome(id = "false, true", expect = FORBIDDEN, desc = "The I/O thread keeps sleeping: a lost wake-up.")
    @State
    public static class UnfencedTwin {
        private final Copy ready = new Copy() {
            @Override
            void fence() {}
        };

        @Actor
        public void writer(ZZ_Result r) {
            r.r1 = ready.offer("partition", 0);
        }

        @Actor
        public void io(ZZ_Result r) {
            r.r2 = ready.trySleep(100);
        }
    }
}
