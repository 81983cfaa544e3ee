package dev.millrace.client.accumulator;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZL_Result;

/**
 * Copies of the protocol of {@link OpenBatch}, each weakened in one step. All except {@code FaithfulCopy} must fail;
 * otherwise {@link OpenBatchStress} proves nothing. An outcome that is not listed is forbidden.
 */
public class OpenBatchTwins {
    /** Only the protocol: a record is a letter repeated, and finishing copies the bytes that are written. */
    private static class Copy {
        private static final int WIDTH = 32;
        private static final int ROOM = 3;
        private static final VarHandle TAIL;
        private static final VarHandle COMMITTED;
        private static final VarHandle FINISHING;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                TAIL = lookup.findVarHandle(Copy.class, "tail", long.class);
                COMMITTED = lookup.findVarHandle(Copy.class, "committed", int.class);
                FINISHING = lookup.findVarHandle(Copy.class, "finishing", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final byte[] buffer = new byte[ROOM * WIDTH];
        private final AtomicInteger finishes = new AtomicInteger();
        private volatile long tail = BatchTail.of(0, 0);
        private volatile int committed;

        @SuppressWarnings("UnusedVariable") // written only through FINISHING
        private volatile boolean finishing;

        private volatile byte[] finished;

        Copy() {
            append('a');
        }

        final boolean append(char letter) {
            while (true) {
                long seen = tail;
                if (BatchTail.isSealed(seen)) {
                    return false;
                }
                int position = BatchTail.position(seen);
                if (TAIL.compareAndSet(this, seen, BatchTail.of(BatchTail.count(seen) + 1, position + WIDTH))) {
                    writeAndCommit(position, letter);
                    return true;
                }
            }
        }

        void writeAndCommit(int position, char letter) {
            write(position, letter);
            commit();
        }

        final void write(int position, char letter) {
            Arrays.fill(buffer, position, position + WIDTH, (byte) letter);
        }

        final void commit() {
            int commits = addCommitted();
            long seen = tail;
            if (BatchTail.isSealed(seen) && commits == BatchTail.count(seen)) {
                finish(seen);
            }
        }

        int addCommitted() {
            return (int) COMMITTED.getAndAdd(this, 1) + 1;
        }

        final int committedPlain() {
            return (int) COMMITTED.get(this);
        }

        final void setCommittedPlain(int value) {
            COMMITTED.set(this, value);
        }

        final void seal() {
            long seen = tail;
            while (!BatchTail.isSealed(seen)) {
                if (TAIL.compareAndSet(this, seen, BatchTail.seal(seen))) {
                    if (committed == BatchTail.count(seen)) {
                        finish(BatchTail.seal(seen));
                    }
                    return;
                }
                seen = tail;
            }
        }

        private void finish(long sealed) {
            if (mayFinish()) {
                finishes.incrementAndGet();
                finished = Arrays.copyOf(buffer, BatchTail.position(sealed));
            }
        }

        boolean mayFinish() {
            return FINISHING.compareAndSet(this, false, true);
        }

        /** The letters in the bytes that were copied when the batch was finished, or what is wrong. */
        final String readFinished() {
            byte[] found = finished;
            if (found == null) {
                return "not finished";
            }
            if (finishes.get() != 1) {
                return "finished " + finishes + " times";
            }
            StringBuilder letters = new StringBuilder();
            for (int i = 0; i < found.length; i++) {
                if (i % WIDTH == 0) {
                    letters.append((char) found[i]);
                } else if (found[i] != found[i - 1]) {
                    return "torn record";
                }
            }
            return letters.indexOf("\0") < 0 ? letters.toString() : "missing record";
        }
    }

    /** Nothing is weakened; shows that the copy is faithful. */
    @JCStressTest
    @Outcome(id = "true, ab", expect = ACCEPTABLE, desc = "Accepted.")
    @Outcome(id = "false, a", expect = ACCEPTABLE, desc = "Sealed before the claim.")
    @State
    public static class FaithfulCopy {
        private final Copy batch = new Copy();

        @Actor
        public void writer(ZL_Result r) {
            r.r1 = batch.append('b');
        }

        @Actor
        public void io() {
            batch.seal();
        }

        @Arbiter
        public void end(ZL_Result r) {
            r.r2 = batch.readFinished();
        }
    }

    /**
     * The commit is a plain store: the writer may read the tail before its commit is visible, and no thread finishes.
     */
    @JCStressTest
    @Outcome(id = "true, ab", expect = ACCEPTABLE, desc = "Accepted.")
    @Outcome(id = "false, a", expect = ACCEPTABLE, desc = "Sealed before the claim.")
    @State
    public static class PlainCommitTwin {
        private final Copy batch = new Copy() {
            @Override
            int addCommitted() {
                int commits = committedPlain() + 1;
                setCommittedPlain(commits);
                return commits;
            }
        };

        @Actor
        public void writer(ZL_Result r) {
            r.r1 = batch.append('b');
        }

        @Actor
        public void io() {
            batch.seal();
        }

        @Arbiter
        public void end(ZL_Result r) {
            r.r2 = batch.readFinished();
        }
    }

    /** The commit precedes the bytes: the thread that finishes may find a record torn or missing. */
    @JCStressTest
    @Outcome(id = "true, ab", expect = ACCEPTABLE, desc = "Accepted.")
    @Outcome(id = "false, a", expect = ACCEPTABLE, desc = "Sealed before the claim.")
    @State
    public static class CommitFirstTwin {
        private final Copy batch = new Copy() {
            @Override
            void writeAndCommit(int position, char letter) {
                commit();
                write(position, letter);
            }
        };

        @Actor
        public void writer(ZL_Result r) {
            r.r1 = batch.append('b');
        }

        @Actor
        public void io() {
            batch.seal();
        }

        @Arbiter
        public void end(ZL_Result r) {
            r.r2 = batch.readFinished();
        }
    }

    /** The sealer and the last committer may both see that all records are committed, and then both finish. */
    @JCStressTest
    @Outcome(id = "true, ab", expect = ACCEPTABLE, desc = "Accepted.")
    @Outcome(id = "false, a", expect = ACCEPTABLE, desc = "Sealed before the claim.")
    @State
    public static class TwoFinishersTwin {
        private final Copy batch = new Copy() {
            @Override
            boolean mayFinish() {
                return true;
            }
        };

        @Actor
        public void writer(ZL_Result r) {
            r.r1 = batch.append('b');
        }

        @Actor
        public void io() {
            batch.seal();
        }

        @Arbiter
        public void end(ZL_Result r) {
            r.r2 = batch.readFinished();
        }
    }
}
