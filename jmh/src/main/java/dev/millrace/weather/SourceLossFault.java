package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.TopicPartition;

/** The {@link SourceLoss} of a climate. Nothing else is broken meanwhile, so that it takes effect each time. */
final class SourceLossFault {
    /** Until the mirror has committed something: what it leaves out before that, it names nowhere. */
    private static final Duration BEGIN = Duration.ofMinutes(1);

    /** What a paused mirror has read before is still copied and committed. */
    private static final Duration IN_FLIGHT = Duration.ofSeconds(4);

    /** How long to wait until more is written. */
    private static final Duration MORE = Duration.ofSeconds(10);

    private final Scene scene;
    private final Random random;
    private final FaultLog log;

    SourceLossFault(Scene scene, Random random, FaultLog log) {
        this.scene = scene;
        this.random = random;
        this.log = log;
    }

    /**
     * Blocks until it is over, and the mirror goes on.
     *
     * @param mayFail whether a cluster was away a moment ago, so that a process that is stopped may end with exit code 1
     */
    void happen(BooleanSupplier mayFail) throws InterruptedException, ExecutionException, TimeoutException {
        MirrorFleet fleet = scene.fleet();
        SourceLoss loss = scene.climate().loss();
        if (loss == SourceLoss.NOTHING) {
            return;
        }
        fleet.members().forEach(MirrorMember::awaitStarted); // one that was just started would not be paused
        List<SourceTopic> possible =
                scene.topics().stream().filter(topic -> mayLose(topic.kind())).toList();
        if (possible.isEmpty()) {
            return; // what would have to be on the target then is not known
        }
        SourceTopic topic = Chance.any(possible, random);
        Await.holdsWithin(BEGIN, () -> scene.copied().isBegun(topic.kind().name()));
        log.fault(topic.kind().shortName(), loss.what());
        switch (loss) {
            case NOTHING -> {}
            case FIRST_WHILE_PAUSED -> {
                fleet.pause();
                loseFirst(topic.kind());
                fleet.resume();
            }
            case FIRST_WHILE_STOPPED -> {
                fleet.stop(mayFail);
                loseFirst(topic.kind());
                fleet.members().forEach(MirrorMember::start);
            }
            case LAST_WHILE_RUNNING -> loseLast(topic);
            case LAST_WHILE_STOPPED -> {
                fleet.stop(mayFail);
                loseLast(topic);
                // The log may grow beyond its old end.
                LockSupport.parkNanos((long) (random.nextDouble() * MORE.toNanos()));
                fleet.members().forEach(MirrorMember::start);
            }
        }
    }

    private boolean mayLose(TopicKind topic) {
        // A cut of the files might come before what was deleted, and might take the markers of transactions.
        return topic.isCopiedWhole()
                && !(scene.climate().loss().isOfTheEnd()
                        && (topic.isTransactional() || !scene.gone().isEmpty(topic.name())));
    }

    /** Deletes records as retention does when it overtakes a mirror. */
    private void loseFirst(TopicKind topic) throws ExecutionException, TimeoutException {
        LockSupport.parkNanos(IN_FLIGHT.toNanos());
        boolean isBehind = Await.holdsWithin(MORE, () -> scene.copied().isBehind(topic.name()));
        Map<TopicPartition, Long> ends = scene.copied().endsOfBegun(topic.name());
        log.tell(
                "%s: has lost %d records, %s",
                topic.shortName(),
                scene.gone().delete(scene.source(), topic.name(), ends),
                isBehind ? "some of them not copied" : "all of them copied");
        LockSupport.parkNanos(ClusterFaults.UNTIL_NOTED.toNanos());
    }

    /** Cuts logs as an unclean election does, or a disk that has not written what the broker gave it. */
    private void loseLast(SourceTopic topic) throws ExecutionException, TimeoutException {
        String name = topic.kind().name();
        List<TopicPartition> partitions = scene.source().partitions(List.of(name));
        topic.whileSilent(() -> {
            try {
                Map<TopicPartition, LogCut> cuts = scene.source().drawCuts(partitions, random);
                log.tell(
                        "%s: has lost %d records",
                        topic.kind().shortName(), scene.gone().loseEnd(scene.source(), name, cuts));
            } catch (ExecutionException | TimeoutException e) {
                throw new IllegalStateException("The source cannot be read", e);
            }
        });
    }
}
