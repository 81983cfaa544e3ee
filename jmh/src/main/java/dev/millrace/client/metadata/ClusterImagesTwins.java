package dev.millrace.client.metadata;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** What {@link ClusterImagesStress} tests, with a weakness each: these must fail. */
public class ClusterImagesTwins {
    /** A new leader is written into the array of the image that readers have. */
    @JCStressTest
    @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "The leader before.")
    @Outcome(id = "2, 2, 2", expect = ACCEPTABLE, desc = "The new leader.")
    @Outcome(expect = FORBIDDEN, desc = "An image in which version, leader and epoch do not fit together.")
    @State
    public static class ChangesInPlaceTwin {
        private final int[] leadership = {1, 1};
        private volatile int version = 1;

        @Actor
        public void hint() {
            leadership[0] = 2;
            leadership[1] = 2;
            version = 2;
        }

        @Actor
        public void reader(III_Result r) {
            r.r1 = version;
            r.r2 = leadership[0];
            r.r3 = leadership[1];
        }
    }

    /** The next image is made without the lock. */
    @JCStressTest
    @Outcome(id = "3, 2", expect = ACCEPTABLE, desc = "One image after the other, and both changes in the last.")
    @Outcome(expect = FORBIDDEN, desc = "A lost change, or one version twice.")
    @State
    public static class WithoutLockTwin {
        private record Image(int version, int leader, int topics) {}

        private volatile Image current = new Image(1, 1, 0);

        @Actor
        public void hint() {
            Image before = current;
            current = new Image(before.version + 1, 2, before.topics);
        }

        @Actor
        public void answer() {
            Image before = current;
            current = new Image(before.version + 1, before.leader, 1);
        }

        @Arbiter
        public void last(II_Result r) {
            r.r1 = current.version;
            r.r2 = current.leader * current.topics;
        }
    }

    /** The next image is made before the lock is taken. */
    @JCStressTest
    @Outcome(
            id = {"3, 3", "3, 4", "4, 4"},
            expect = ACCEPTABLE,
            desc = "The second look sees the same image or a newer one.")
    @Outcome(expect = FORBIDDEN, desc = "The version goes back.")
    @State
    public static class MadeBeforeTheLockTwin {
        private final Object lock = new Object();
        private volatile int version = 1;

        private void publish() {
            int next = version + 1;
            synchronized (lock) {
                version = next;
            }
        }

        @Actor
        public void answer() {
            publish();
        }

        @Actor
        public void answersAndLooks(II_Result r) {
            publish();
            publish();
            r.r1 = version;
            r.r2 = version;
        }
    }
}
