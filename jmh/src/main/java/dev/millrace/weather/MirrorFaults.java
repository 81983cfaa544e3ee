package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.TopicPartition;

/** What happens to the processes of the mirror, one thing at a time. */
final class MirrorFaults extends Faults {
    private final Scene scene;
    private final boolean isAfterTheCalm;
    private final ClusterFaults clusters;

    /**
     * @param clusters may be the reason why a process that is stopped cannot finish
     */
    MirrorFaults(
            Scene scene,
            boolean isAfterTheCalm,
            ClusterFaults clusters,
            Random random,
            FaultLog log,
            CountDownLatch end) {
        super(random, log, end);
        this.scene = scene;
        this.isAfterTheCalm = isAfterTheCalm;
        this.clusters = clusters;
    }

    @Override
    protected List<Runnable> kinds() {
        List<Runnable> kinds = new ArrayList<>(List.of(this::pauseTopics, this::throttle));
        Treatment treatment = scene.climate().treatment();
        boolean isRough = treatment != Treatment.CLEAN;
        boolean mayEnd = treatment != Treatment.LASTING || !isAfterTheCalm;
        if (isRough) {
            kinds.add(this::freeze);
        }
        if (mayEnd) {
            kinds.addAll(List.of(this::stop, this::roll));
        }
        if (isRough && mayEnd) {
            kinds.addAll(List.of(this::kill, this::setBack));
        }
        return kinds;
    }

    @Override
    protected Duration pause() {
        return between(1_000, 6_000);
    }

    private void kill() {
        MirrorMember member = any();
        log.fault(member.toString(), "mirror kill -9");
        interruptibly(member::kill);
        startAgain(member);
    }

    /** The others take over what it has; then it goes on. */
    private void freeze() {
        MirrorMember member = any();
        log.fault(member.toString(), "mirror SIGSTOP");
        member.freeze();
        try {
            hold(MirrorFleet.SESSION.plus(between(0, 6_000)));
        } finally {
            member.thaw();
            log.tell("%s: SIGCONT", member);
        }
    }

    private void stop() {
        MirrorMember member = any();
        log.fault(member.toString(), "mirror SIGTERM");
        stop(member);
        startAgain(member);
    }

    /** As a new version is rolled out: one after the other, each as soon as the one before it runs again. */
    private void roll() {
        log.fault("mirrors", "rolling restart");
        for (MirrorMember member : scene.fleet().members()) {
            stop(member);
            member.start();
            log.tell("%s: started", member);
        }
    }

    /** An operator has some partitions copied again: with Kafka's own tools, or one of them with the command for it. */
    private void setBack() {
        boolean isByCommand = random.nextBoolean();
        log.fault("mirrors", isByCommand ? "mirror rewind" : "their group is set back");
        scene.fleet().members().forEach(this::stop);
        scene.fleet().setBack();
        try {
            Map<TopicPartition, Long> earlier = scene.copied().earlier(random);
            if (!isByCommand) {
                scene.copied().setBack(earlier);
            } else if (!earlier.isEmpty()) {
                rewind(Chance.any(List.copyOf(earlier.entrySet()), random));
            }
        } catch (ExecutionException | TimeoutException e) {
            log.tell("the group could not be set back: %s", e);
        }
        scene.fleet().members().forEach(MirrorMember::start);
        log.tell("all mirrors: started");
    }

    private void rewind(Map.Entry<TopicPartition, Long> place) {
        long begun = System.nanoTime();
        interruptibly(
                () -> scene.fleet().rewind(place.getKey(), place.getValue(), () -> clusters.wereBrokenSince(begun)));
    }

    private void stop(MirrorMember member) {
        member.awaitStarted();
        long begun = System.nanoTime();
        interruptibly(() -> member.stop(() -> clusters.wereBrokenSince(begun)));
        log.tell("%s: has ended", member);
    }

    private void pauseTopics() {
        MirrorMember member = any();
        log.fault(member.toString(), "topics are paused");
        member.post("pause", "");
        hold(between(1_000, 8_000));
        member.post("resume", "");
        log.tell("%s: topics go on", member);
    }

    private void throttle() {
        MirrorMember member = any();
        int kilobytes = 20 + random.nextInt(1_000);
        log.fault(member.toString(), "topics are throttled");
        member.post("throttle", "bytes-per-second=" + kilobytes + "KB");
        hold(between(1_000, 8_000));
        member.post("throttle", "bytes-per-second=none");
        log.tell("%s: topics are not throttled", member);
    }

    private void startAgain(MirrorMember member) {
        hold(between(0, 8_000));
        member.start();
        log.tell("%s: started", member);
    }

    private MirrorMember any() {
        return Chance.any(scene.fleet().members(), random);
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
