package dev.millrace.chaos;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;

/**
 * What happens to brokers and between them, to one broker at a time: with two replicas in sync for each acknowledgement,
 * Kafka promises to lose nothing as long as no more than one disk is lost before all replicas are in sync again.
 */
final class BrokerFaults extends Faults {
    /** For others to lead in place of a broker that is stopped; usually it takes ten seconds. */
    private static final Duration TAKE_OVER = Duration.ofSeconds(45);

    /** For followers that nobody answers to be taken out of the replicas in sync. */
    private static final Duration ALONE_IN_SYNC = Duration.ofSeconds(15);

    private final KafkaCluster brokers;
    private final ChaosCluster cluster;
    private final List<ChaosTopic> topics;
    private final List<String> names;

    BrokerFaults(
            KafkaCluster brokers,
            ChaosCluster cluster,
            List<ChaosTopic> topics,
            Random random,
            FaultLog log,
            CountDownLatch end) {
        super(random, log, end);
        this.brokers = brokers;
        this.cluster = cluster;
        this.topics = topics;
        names = topics.stream().map(ChaosTopic::name).toList();
    }

    @Override
    protected List<Runnable> kinds() {
        List<Runnable> kinds = new ArrayList<>(List.of(
                this::kill,
                this::makeZombie,
                this::replaceDisk,
                this::restart,
                this::moveLeaders,
                this::cutReplication,
                this::slowReplication));
        if (has(ChaosTopic.Kind.UNCLEAN)) {
            kinds.add(this::electUnclean);
        }
        if (has(ChaosTopic.Kind.SOLE)) {
            kinds.add(this::restartSoleReplica);
            kinds.add(this::restartSoleReplica);
        }
        return kinds;
    }

    /** Until all replicas are in sync, so that no two faults together take more than Kafka promises to survive. */
    @Override
    protected Duration pause() {
        cluster.awaitAllInSync(names);
        return between(0, 1_000);
    }

    private void kill() {
        int broker = anyBroker();
        log.fault(name(broker), "kill -9");
        brokers.kill(broker);
        hold(between(0, 4_000));
        brokers.restart(broker);
        log.tell("broker %d: is back", broker);
    }

    /**
     * The others elect leaders in its place; when it goes on, it does not know that yet. If it was their controller, they
     * may not agree on another one while it is stopped: then it goes on as the leader it was.
     */
    private void makeZombie() {
        int broker = anyBroker();
        log.fault(name(broker), "SIGSTOP");
        brokers.pause(broker);
        boolean isReplaced = false;
        try {
            isReplaced = holdUntil(TAKE_OVER, () -> cluster.isOutOfSync(broker, keptNames()));
            hold(between(0, 2_000));
        } finally {
            brokers.resume(broker);
            log.tell("broker %d: SIGCONT%s", broker, isReplaced ? ", a zombie leader" : ", nobody has replaced it");
        }
    }

    private void replaceDisk() {
        int broker = has(ChaosTopic.Kind.SOLE) ? otherThanSole() : anyBroker();
        log.fault(name(broker), "kill -9, and its disk is lost");
        brokers.kill(broker);
        brokers.removeData(broker);
        brokers.restart(broker);
        log.tell("broker %d: is back with an empty disk", broker);
    }

    private void restart() {
        int broker = anyBroker();
        log.fault(name(broker), "restart");
        brokers.restart(broker);
        log.tell("broker %d: is back", broker);
    }

    /**
     * It stops cleanly while it has batches that are written and not answered, and starts from a snapshot, which knows the
     * last batch of each producer only.
     */
    private void restartSoleReplica() {
        FaultProxy proxy = brokers.proxy(ChaosCluster.SOLE);
        log.fault(name(ChaosCluster.SOLE), "restart of a sole replica that has not answered");
        proxy.setFlow(Flow.REQUESTS_ONLY);
        try {
            hold(between(200, 1_500));
            brokers.stop(ChaosCluster.SOLE);
        } finally {
            proxy.resetAll(); // else the proxy delivers the answers that it has kept
            proxy.setFlow(Flow.BOTH);
            brokers.restart(ChaosCluster.SOLE);
        }
        log.tell("broker %d: is back", ChaosCluster.SOLE);
    }

    private void moveLeaders() {
        log.fault("all topics", "leaders move");
        for (int round = 0; round < 3; round++) {
            Map<TopicPartition, List<Integer>> orders = new HashMap<>();
            for (TopicPartition partition : keptPartitions()) {
                List<Integer> replicas = new ArrayList<>(
                        IntStream.rangeClosed(1, ChaosCluster.BROKERS).boxed().toList());
                Collections.shuffle(replicas, random);
                orders.put(partition, replicas);
            }
            cluster.reorder(orders);
            cluster.elect(ElectionType.PREFERRED, Set.copyOf(keptPartitions()));
            hold(between(0, 500));
        }
        log.tell("leaders have moved");
    }

    /**
     * Nobody can fetch from it, so what it leads has no other replica in sync after a while. A follower of a partition that
     * nobody writes to stays in sync, and the cut itself may stop all who write, for the log of transactions needs two
     * replicas: so it does not wait for ever.
     */
    private void cutReplication() {
        int broker = anyBroker();
        FaultProxy proxy = brokers.proxy(Listener.REPLICATION, broker);
        log.fault(name(broker), "no other broker reaches it");
        proxy.setFlow(Flow.NOTHING);
        try {
            boolean isAlone = holdUntil(ALONE_IN_SYNC, () -> cluster.isAlone(broker, keptNames()));
            log.tell("broker %d: %s", broker, isAlone ? "alone has what it leads" : "others are still in sync with it");
            hold(between(0, 2_000));
        } finally {
            proxy.setFlow(Flow.BOTH);
            log.tell("broker %d: other brokers reach it", broker);
        }
    }

    private void slowReplication() {
        int broker = anyBroker();
        FaultProxy proxy = brokers.proxy(Listener.REPLICATION, broker);
        log.fault(name(broker), "other brokers reach it slowly, and their connections break");
        proxy.limitBytesPerSecond(30_000);
        try {
            hold(between(500, 3_000));
            proxy.resetAll();
            hold(between(500, 1_500));
        } finally {
            proxy.limitBytesPerSecond(Long.MAX_VALUE);
            log.tell("broker %d: other brokers reach it well", broker);
        }
    }

    /** A leader that alone is in sync dies, and one that is not in sync is told to lead. No other unclean election happens. */
    private void electUnclean() {
        ChaosTopic topic = topics.stream()
                .filter(any -> any.kind() == ChaosTopic.Kind.UNCLEAN)
                .findFirst()
                .orElseThrow();
        TopicPartition partition =
                topic.allPartitions().get(random.nextInt(topic.allPartitions().size()));
        int leader = cluster.leader(partition);
        if (leader < 0) {
            return;
        }
        FaultProxy proxy = brokers.proxy(Listener.REPLICATION, leader);
        log.fault(partition.toString(), "unclean election");
        log.tell("broker %d: no other broker reaches it, so that it alone has %s in sync", leader, partition);
        proxy.setFlow(Flow.NOTHING);
        boolean isKilled = false;
        try {
            await(
                    "it is alone in sync, or another leads",
                    () -> cluster.inSync(partition).equals(Set.of(leader)) || isAnotherLeader(partition, leader));
            hold(between(2_000, 4_000)); // so that it acknowledges what only it has
            log.tell("broker %d: kill -9", leader);
            isKilled = true;
            brokers.kill(leader);
            await("another broker leads " + partition, () -> {
                cluster.elect(ElectionType.UNCLEAN, Set.of(partition));
                return isAnotherLeader(partition, leader);
            });
            topic.onUncleanElection(partition.partition(), log.nowMs());
            log.tell("broker %d: leads %s by an unclean election", cluster.leader(partition), partition);
        } finally {
            proxy.setFlow(Flow.BOTH);
            if (isKilled) {
                brokers.restart(leader);
            }
            log.tell("broker %d: is back", leader);
        }
    }

    private boolean isAnotherLeader(TopicPartition partition, int former) {
        int leader = cluster.leader(partition);
        return leader > 0 && leader != former;
    }

    private static void await(String what, BooleanSupplier condition) {
        Await.until(what, ChaosCluster.PATIENCE, condition);
    }

    private static String name(int broker) {
        return "broker " + broker;
    }

    private int anyBroker() {
        return 1 + random.nextInt(ChaosCluster.BROKERS);
    }

    private int otherThanSole() {
        return 1 + (ChaosCluster.SOLE + random.nextInt(ChaosCluster.BROKERS - 1)) % ChaosCluster.BROKERS;
    }

    private boolean has(ChaosTopic.Kind kind) {
        return topics.stream().anyMatch(topic -> topic.kind() == kind);
    }

    private Collection<String> keptNames() {
        return kept().map(ChaosTopic::name).toList();
    }

    private List<TopicPartition> keptPartitions() {
        return kept().flatMap(topic -> topic.allPartitions().stream()).toList();
    }

    private Stream<ChaosTopic> kept() {
        return topics.stream().filter(topic -> topic.kind().isKept());
    }
}
