package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.TopicPartition;

/** The {@link SourceLoss} of a climate. Nothing else is broken meanwhile, so that it takes effect each time. */
final class SourceLossFault {
    /** Until the mirror has committed something: what it leaves out before that, it names nowhere. */
    private static final Duration BEGIN = Duration.ofMinutes(1);

    /** Until what the mirror has read, or can read, is copied and committed. */
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
            case LAST_WHILE_RUNNING -> prepareLossOfEnd(topic).run();
            case LAST_WHILE_STOPPED -> {
                Runnable prepared = prepareLossOfEnd(topic);
                fleet.stop(mayFail);
                prepared.run();
                // The log may grow beyond its old end.
                LockSupport.parkNanos((long) (random.nextDouble() * MORE.toNanos()));
                fleet.members().forEach(MirrorMember::start);
            }
        }
    }

    private boolean mayLose(TopicKind topic) {
        if (!scene.climate().loss().isOfTheEnd()) {
            return topic.isCopiedWhole();
        }
        // Markers of transactions might be lost, and by a cut of files records that are deleted already.
        boolean isCut = scene.climate().source().brokers() == 1;
        return topic.isCopiedWhole()
                && !topic.isTransactional()
                && !(isCut && !scene.gone().isEmpty(topic.name()));
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

    /** Blocks until there are records that can be lost, which the mirror may copy; returns what takes them away. */
    private Runnable prepareLossOfEnd(SourceTopic topic) throws ExecutionException, TimeoutException {
        String name = topic.kind().name();
        if (scene.climate().source().brokers() == 1) {
            List<TopicPartition> partitions = scene.source().partitions(List.of(name));
            return () -> topic.whileSilent(() -> cutLogs(topic.kind(), partitions));
        }
        UncleanElection election = new UncleanElection(scene.source(), name, anyLeader(name));
        topic.whileSilent(election::prepare);
        topic.writeMore();
        topic.whileSilent(() -> {}); // it is acknowledged, so that the mirror can read it
        LockSupport.parkNanos(IN_FLIGHT.toNanos());
        return () -> topic.whileSilent(() -> loseEnd(topic.kind(), election.ends(), election::elect));
    }

    /** A leader of the topic without which the mirror can still commit; if there is none, any other broker. */
    private int anyLeader(String topic) throws ExecutionException, TimeoutException {
        Set<Integer> possible = scene.source().leaders(topic);
        if (!scene.climate().mirror().isExactlyOnce()) { // else it commits at the target
            int coordinator = scene.source().coordinator(MirrorFleet.GROUP);
            possible.remove(coordinator);
            if (possible.isEmpty()) {
                return 1 + coordinator % scene.climate().source().brokers();
            }
        }
        return Chance.any(List.copyOf(possible), random);
    }

    /** As a disk does that has not written what the only broker gave it. */
    private void cutLogs(TopicKind topic, List<TopicPartition> partitions) {
        Side source = scene.source();
        Map<TopicPartition, LogCut> cuts = source.drawCuts(partitions, random);
        Map<TopicPartition, Long> ends = new HashMap<>();
        cuts.forEach((partition, cut) -> ends.put(partition, cut.offset()));
        loseEnd(topic, ends, () -> source.loseEnds(cuts.values()));
    }

    private void loseEnd(TopicKind topic, Map<TopicPartition, Long> ends, Runnable loss) {
        try {
            log.tell(
                    "%s: has lost %d records",
                    topic.shortName(), scene.gone().loseEnd(scene.source(), topic.name(), ends, loss));
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("The source cannot be read", e);
        }
    }
}
