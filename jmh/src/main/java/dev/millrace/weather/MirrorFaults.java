package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.weather.MirrorFleet.Member;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/** What happens to one process of the mirror at a time. */
final class MirrorFaults extends Faults {
    private final MirrorFleet fleet;
    private final ClusterFaults clusters;
    private boolean wasFrozen;

    /** @param clusters may be the reason why a process that is stopped cannot finish */
    MirrorFaults(MirrorFleet fleet, ClusterFaults clusters, Random random, FaultLog log, CountDownLatch end) {
        super(random, log, end);
        this.fleet = fleet;
        this.clusters = clusters;
    }

    /** Whether a process was frozen for longer than its session, and went on. Ask after the last fault. */
    boolean wasFrozen() {
        return wasFrozen;
    }

    @Override
    protected List<Runnable> kinds() {
        return List.of(this::kill, this::freeze, this::stop);
    }

    @Override
    protected Duration pause() {
        return between(1_000, 6_000);
    }

    private void kill() {
        Member member = any();
        log.fault(member.toString(), "mirror kill -9");
        interruptibly(member::kill);
        startAgain(member);
    }

    /** The others take over what it has; then it goes on. */
    private void freeze() {
        Member member = any();
        log.fault(member.toString(), "mirror SIGSTOP");
        member.freeze();
        long begun = System.nanoTime();
        try {
            hold(MirrorFleet.SESSION.plus(between(0, 6_000)));
        } finally {
            wasFrozen |= System.nanoTime() - begun > MirrorFleet.SESSION.toNanos();
            member.thaw();
            log.tell("%s: SIGCONT", member);
        }
    }

    private void stop() {
        Member member = any();
        member.awaitStarted();
        log.fault(member.toString(), "mirror SIGTERM");
        long begun = System.nanoTime();
        interruptibly(() -> member.stop(() -> clusters.wereBrokenSince(begun)));
        log.tell("%s: has ended", member);
        startAgain(member);
    }

    private void startAgain(Member member) {
        hold(between(0, 8_000));
        member.start();
        log.tell("%s: started", member);
    }

    private Member any() {
        return fleet.members().get(random.nextInt(fleet.members().size()));
    }

    private interface Interruptible {
        void run() throws InterruptedException;
    }

    private static void interruptibly(Interruptible action) {
        try {
            action.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted in a fault", e);
        }
    }
}
