package dev.millrace.chaos;

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
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;

/**
 * What happens to brokers and between them, to one broker at a time: with two replicas in sync for each acknowledgement,
 * Kafka promises to lose nothing as long as no more than one disk is lost before all replicas are in sync again.
 */
final class BrokerFaults extends Faults {
    /** For others to lead in place of a broker that is stopped; usually it takes ten seconds. */
    private static final Duration TAKE_OVER = Duration.ofSeconds(45);

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
    List<Runnable> kinds() {
        List<Runnable> kinds = new ArrayList<>(List.of(
                this::kill,
                this::makeZombie,
                this::replaceDisk,
                this::restart,
                this::moveLeaders,
                this::cutReplication,
                this::slowReplication));
        if (topics.stream().anyMatch(topic -> topic.kind() == ChaosTopic.Kind.UNCLEAN)) {
            kinds.add(this::electUnclean);
        }
        return kinds;
    }

    /** Until all replicas are in sync, so that no two faults together take more than Kafka promises to survive. */
    @Override
    Duration pause() {
        cluster.awaitAllInSync(names);
        return between(0, 1_000);
    }

    private void kill() {
        int broker = anyBroker();
        log.fault("broker %d: kill -9", broker);
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
        log.fault("broker %d: SIGSTOP", broker);
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
        int broker = anyBroker();
        log.fault("broker %d: kill -9, and its disk is lost", broker);
        brokers.kill(broker);
        brokers.removeData(broker);
        brokers.restart(broker);
        log.tell("broker %d: is back with an empty disk", broker);
    }

    private void restart() {
        int broker = anyBroker();
        log.fault("broker %d: restart", broker);
        brokers.restart(broker);
        log.tell("broker %d: is back", broker);
    }

    private void moveLeaders() {
        log.fault("leaders move");
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

    /** Nobody can fetch from it, so what it leads has no other replica in sync. */
    private void cutReplication() {
        int broker = anyBroker();
        FaultProxy proxy = brokers.proxy(Listener.REPLICATION, broker);
        log.fault("broker %d: no other broker reaches it", broker);
        proxy.setFlow(Flow.NOTHING);
        try {
            await("what it leads is on no other broker", () -> cluster.isAlone(broker, keptNames()));
            hold(between(0, 2_000));
        } finally {
            proxy.setFlow(Flow.BOTH);
            log.tell("broker %d: other brokers reach it", broker);
        }
    }

    private void slowReplication() {
        int broker = anyBroker();
        FaultProxy proxy = brokers.proxy(Listener.REPLICATION, broker);
        log.fault("broker %d: other brokers reach it slowly, and their connections break", broker);
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

    /** A leader that alone is in sync dies, so one that is not in sync leads, where the topic allows it. */
    private void electUnclean() {
        TopicPartition partition = partitionsOf(ChaosTopic.Kind.UNCLEAN).get(0);
        int leader = cluster.leader(partition);
        if (leader < 0) {
            return;
        }
        FaultProxy proxy = brokers.proxy(Listener.REPLICATION, leader);
        log.fault("broker %d: no other broker reaches it, so that it alone has %s in sync", leader, partition);
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

    private Collection<String> keptNames() {
        return topics.stream()
                .filter(topic -> topic.kind() == ChaosTopic.Kind.KEPT)
                .map(ChaosTopic::name)
                .toList();
    }

    private List<TopicPartition> keptPartitions() {
        return partitionsOf(ChaosTopic.Kind.KEPT);
    }

    private List<TopicPartition> partitionsOf(ChaosTopic.Kind kind) {
        return topics.stream()
                .filter(topic -> topic.kind() == kind)
                .flatMap(topic ->
                        IntStream.range(0, topic.partitions()).mapToObj(p -> new TopicPartition(topic.name(), p)))
                .toList();
    }
}
