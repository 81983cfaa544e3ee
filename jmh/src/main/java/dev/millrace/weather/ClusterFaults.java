package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/**
 * What happens to brokers of either cluster, between them and the mirror, and to their topics. One thing at a time: with two
 * replicas in sync for each acknowledgement Kafka loses nothing then.
 */
final class ClusterFaults extends Faults {
    /** After a fault a mirror may not know yet that all is well: it waits so long until it asks again. */
    private static final Duration AFTERMATH = Duration.ofSeconds(15);

    /** A broker that is killed before it has noted where a log begins has again what was deleted. */
    static final Duration UNTIL_NOTED = Duration.ofSeconds(3);

    private static final int MAX_MORE_PARTITIONS = 4;

    private final Scene scene;
    private final List<Side> sides;
    private volatile boolean isBroken;
    private volatile long mendedNs = System.nanoTime() - AFTERMATH.toNanos();

    ClusterFaults(Scene scene, Random random, FaultLog log, CountDownLatch end) {
        super(random, log, end);
        this.scene = scene;
        sides = List.of(scene.source(), scene.target());
    }

    /** Whether anything was broken at this time of {@link System#nanoTime()} or since, or shortly before. */
    boolean wereBrokenSince(long timeNs) {
        return isBroken || mendedNs - timeNs + AFTERMATH.toNanos() > 0;
    }

    @Override
    protected List<Runnable> kinds() {
        List<Runnable> kinds = new ArrayList<>(List.of(
                () -> breakBroker("broker kill -9", this::kill),
                () -> breakBroker("broker restart", this::restart),
                () -> breakBroker("broker SIGSTOP", this::freeze),
                this::killMost,
                () -> breakBroker("broker gets an empty disk", this::replaceDisk),
                () -> breakConnections("connections are reset", FaultProxy::resetAll),
                () -> breakConnections("connections are half-open", FaultProxy::makeAllHalfOpen),
                this::hide,
                this::cutReplication,
                this::grow,
                this::delete,
                this::deleteFromCopy,
                this::changeSetting));
        if (scene.climate().areCopiesDeleted()) {
            kinds.add(this::deleteCopy);
            kinds.add(this::formatTarget);
        }
        if (scene.climate().areTopicsCreatedAgain()) {
            kinds.add(this::createAgain);
        }
        return kinds;
    }

    /** Until all replicas are in sync, so that no two faults together take more than Kafka promises to survive. */
    @Override
    protected Duration pause() {
        sides.forEach(Side::awaitAllInSync);
        return between(500, 4_000);
    }

    private interface BrokerFault {
        void happen(Side side, int broker);
    }

    private void breakBroker(String what, BrokerFault fault) {
        Side side = anySide();
        int broker = anyBroker(side);
        log.fault(side + " " + broker, what);
        whileBroken(() -> fault.happen(side, broker));
        log.tell("%s %d: is back", side, broker);
    }

    private void kill(Side side, int broker) {
        side.cluster().kill(broker);
        hold(between(0, 4_000));
        side.cluster().restart(broker);
    }

    /** One broker remains of three, and none of one: partitions have no leader for a while. */
    private void killMost() {
        Side side = anySide();
        int killed = Math.max(1, side.cluster().brokers() - 1);
        log.fault(side.toString(), "most brokers kill -9");
        whileBroken(() -> {
            IntStream.rangeClosed(1, killed).forEach(side.cluster()::kill);
            hold(between(4_000, 15_000));
            IntStream.rangeClosed(1, killed).forEach(side.cluster()::restart);
        });
        log.tell("%s: all are back", side);
    }

    private void restart(Side side, int broker) {
        side.cluster().restart(broker);
    }

    /** Others have its records; a broker that is alone has none, so it is only restarted. */
    private void replaceDisk(Side side, int broker) {
        side.cluster().kill(broker);
        if (side.cluster().brokers() > 1) {
            side.cluster().removeData(broker);
        }
        side.cluster().restart(broker);
    }

    private void freeze(Side side, int broker) {
        side.cluster().pause(broker);
        hold(between(500, 10_000));
        side.cluster().resume(broker);
    }

    private interface ProxyFault {
        void happen(FaultProxy proxy);
    }

    private void breakConnections(String what, ProxyFault fault) {
        Side side = anySide();
        int broker = anyBroker(side);
        log.fault(side + " " + broker, what);
        whileBroken(() -> fault.happen(side.proxies().get(broker - 1)));
    }

    private void hide() {
        Side side = anySide();
        log.fault(side.toString(), "nothing passes");
        whileBroken(() -> {
            side.proxies().forEach(proxy -> proxy.setFlow(Flow.NOTHING));
            hold(between(500, 12_000));
            side.proxies().forEach(proxy -> proxy.setFlow(Flow.BOTH));
        });
        log.tell("%s: all passes", side);
    }

    /** Other brokers do not reach one: it drops out of their replicas, or they out of its. */
    private void cutReplication() {
        Side side = anySide();
        int broker = anyBroker(side);
        FaultProxy proxy = side.replicationProxy(broker);
        log.fault(side + " " + broker, "no other broker reaches it");
        whileBroken(() -> {
            proxy.setFlow(Flow.NOTHING);
            hold(between(500, 8_000));
            proxy.setFlow(Flow.BOTH);
        });
        log.tell("%s %d: other brokers reach it", side, broker);
    }

    private void grow() {
        SourceTopic topic = Chance.any(scene.topics(), random);
        int partitions = topic.partitions() + 1 + random.nextInt(MAX_MORE_PARTITIONS);
        log.fault(topic.kind().shortName(), "more partitions");
        if (scene.source().grow(topic.kind().name(), partitions)) {
            topic.setPartitions(partitions);
        }
    }

    /** The first records of some partitions. The mirror waits meanwhile, so it has not copied some of them. */
    private void delete() {
        TopicKind topic = Chance.any(scene.topics(), random).kind();
        if (!topic.isCopiedWhole()) {
            return; // what would have to be on the target then is not known
        }
        double share = Math.min(1, 2 * random.nextDouble()); // often all, so that some of it is not copied yet
        log.fault(topic.shortName(), "records are deleted");
        scene.fleet().pause();
        hold(between(500, 4_000));
        try {
            Map<TopicPartition, Long> ends = new HashMap<>(scene.copied().endsOfBegun(topic.name()));
            ends.replaceAll((partition, end) -> (long) (end * share));
            log.tell(
                    "%s: has lost %d records",
                    topic.shortName(), scene.gone().delete(scene.source(), topic.name(), ends));
            hold(UNTIL_NOTED);
        } catch (ExecutionException | TimeoutException e) {
            log.tell("%s: could not be read, so nothing is deleted", topic.shortName());
        } finally {
            scene.fleet().resume();
        }
    }

    /** As the retention of the target does: records that were copied long ago. */
    private void deleteFromCopy() {
        TopicKind topic = Chance.any(scene.topics(), random).kind();
        if (!topic.isCopiedWhole()) {
            return;
        }
        double share = random.nextDouble() / 2;
        log.fault(topic.shortName(), "records of the copy are deleted");
        String copy = scene.climate().copyOf(topic.name());
        try {
            Map<TopicPartition, Long> ends = new HashMap<>(
                    scene.target().ends(scene.target().partitions(List.of(copy)), IsolationLevel.READ_COMMITTED));
            ends.replaceAll((partition, end) -> (long) (end * share));
            scene.gone().deleteFromCopy(scene.target(), topic.name(), copy, ends);
            hold(UNTIL_NOTED);
        } catch (ExecutionException | TimeoutException e) {
            log.tell("%s: its copy could not be read, so nothing is deleted", topic.shortName());
        }
    }

    private void changeSetting() {
        TopicKind topic = Chance.any(scene.topics(), random).kind();
        log.fault(topic.shortName(), "has another setting");
        var unused = scene.source()
                .set(topic.name(), "file.delete.delay.ms", Integer.toString(1_000 + random.nextInt(100_000)));
    }

    /** Its records go, and those that come next begin at offset 0. */
    private void createAgain() {
        SourceTopic topic = Chance.any(scene.topics(), random);
        TopicKind kind = topic.kind();
        if (!kind.isCopiedWhole() || kind.isTransactional()) {
            return; // what would have to be on the target then is not known
        }
        log.fault(kind.shortName(), "is created again");
        topic.whileSilent(() -> {
            try {
                scene.gone().createAgain(scene.source(), topic);
            } catch (ExecutionException | TimeoutException e) {
                log.tell("%s: could not be read, so it stays", kind.shortName());
            }
        });
        log.tell("%s: is empty", kind.shortName());
    }

    /** The mirror has to notice, and to make it again. */
    private void deleteCopy() {
        TopicKind topic = Chance.any(scene.topics(), random).kind();
        log.fault(topic.shortName(), "its copy is deleted");
        scene.gone().deleteCopy(topic.name());
        whileBroken(() -> scene.target().deleteTopic(scene.climate().copyOf(topic.name())));
    }

    /** All copies go, and all progress that is kept on the target. */
    private void formatTarget() {
        log.fault(scene.target().toString(), "is formatted");
        scene.climate().topicNames().forEach(scene.gone()::deleteCopy);
        whileBroken(scene.target()::format);
        log.tell("%s: is empty", scene.target());
    }

    private void whileBroken(Runnable fault) {
        isBroken = true;
        fault.run();
        mendedNs = System.nanoTime();
        isBroken = false;
    }

    private Side anySide() {
        return Chance.any(sides, random);
    }

    private int anyBroker(Side side) {
        return 1 + random.nextInt(side.cluster().brokers());
    }
}
