package dev.millrace.weather;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.TopicPartition;

/**
 * What happens to brokers of either cluster, and between them and the mirror. One broker at a time: with two replicas in sync
 * for each acknowledgement Kafka loses nothing then.
 */
final class ClusterFaults extends Faults {
    /** After a fault a mirror may not know yet that all is well: it waits so long until it asks again. */
    private static final Duration AFTERMATH = Duration.ofSeconds(15);

    private static final int MAX_MORE_PARTITIONS = 4;

    private final List<Side> sides;
    private final List<SourceTopic> topics;
    private final CopiedProgress copied;
    private final GoneRecords gone;
    private volatile boolean isBroken;
    private volatile long mendedNs = System.nanoTime() - AFTERMATH.toNanos();

    /**
     * @param copied tells of which partitions the mirror has begun: of others it cannot miss anything
     * @param gone gets what is deleted
     */
    ClusterFaults(
            Side source,
            Side target,
            List<SourceTopic> topics,
            CopiedProgress copied,
            GoneRecords gone,
            Random random,
            FaultLog log,
            CountDownLatch end) {
        super(random, log, end);
        sides = List.of(source, target);
        this.topics = topics;
        this.copied = copied;
        this.gone = gone;
    }

    /** Whether anything was broken at this time of {@link System#nanoTime()} or since, or shortly before. */
    boolean wereBrokenSince(long timeNs) {
        return isBroken || mendedNs - timeNs + AFTERMATH.toNanos() > 0;
    }

    @Override
    protected List<Runnable> kinds() {
        return List.of(
                () -> breakBroker("broker kill -9", this::kill),
                () -> breakBroker("broker restart", this::restart),
                () -> breakBroker("broker SIGSTOP", this::freeze),
                () -> breakConnections("connections are reset", FaultProxy::resetAll),
                () -> breakConnections("connections are half-open", FaultProxy::makeAllHalfOpen),
                this::hide,
                this::grow,
                this::delete);
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

    private void restart(Side side, int broker) {
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

    private void grow() {
        SourceTopic topic = Chance.any(topics, random);
        int partitions = topic.partitions() + 1 + random.nextInt(MAX_MORE_PARTITIONS);
        log.fault(topic.kind().shortName(), "more partitions");
        if (sides.get(0).grow(topic.kind().name(), partitions)) {
            topic.setPartitions(partitions);
        }
    }

    /** The first records of some partitions, copied or not. */
    private void delete() {
        TopicKind topic = Chance.any(topics, random).kind();
        double share = Math.sqrt(random.nextDouble()); // rather much, so that some of it is not copied yet
        log.fault(topic.shortName(), "records are deleted");
        try {
            Map<TopicPartition, Long> ends = new HashMap<>(copied.endsOfBegun(topic.name()));
            ends.replaceAll((partition, end) -> (long) (end * share));
            log.tell("%s: has lost %d records", topic.shortName(), gone.delete(sides.get(0), topic.name(), ends));
        } catch (ExecutionException | TimeoutException e) {
            log.tell("%s: could not be read, so nothing is deleted", topic.shortName());
        }
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
