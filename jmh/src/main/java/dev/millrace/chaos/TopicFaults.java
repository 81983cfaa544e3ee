package dev.millrace.chaos;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/** Topics that are deleted, created anew and given more partitions while threads send to them. */
final class TopicFaults extends Faults {
    private static final int MAX_PARTITIONS = 8;

    private final ChaosCluster cluster;
    private final List<ChaosTopic> topics;

    TopicFaults(ChaosCluster cluster, List<ChaosTopic> topics, Random random, FaultLog log, CountDownLatch end) {
        super(random, log, end);
        this.cluster = cluster;
        this.topics = topics.stream()
                .filter(topic -> topic.kind() == ChaosTopic.Kind.CHURNED)
                .toList();
    }

    @Override
    protected List<Runnable> kinds() {
        return List.of(() -> createAnew(Duration.ZERO), () -> createAnew(between(500, 4_000)), this::grow, this::grow);
    }

    @Override
    protected Duration pause() {
        return between(500, 3_000);
    }

    private void createAnew(Duration away) {
        ChaosTopic topic = any();
        int partitions = 1 + random.nextInt(4);
        log.fault(topic.name(), "deleted and created anew");
        topic.onDeleting();
        cluster.delete(topic.name());
        hold(away);
        topic.setPartitions(partitions);
        cluster.create(topic);
        topic.onCreatedAnew(cluster.partitions(topic.name()));
        log.tell("%s: is there again, with %d partitions", topic.name(), topic.partitions());
    }

    private void grow() {
        ChaosTopic topic = any();
        int wanted = Math.min(MAX_PARTITIONS, topic.partitions() + 1 + random.nextInt(2));
        topic.setPartitions(cluster.grow(topic.name(), wanted));
        log.fault(topic.name(), "more partitions");
        log.tell("%s: has %d partitions", topic.name(), topic.partitions());
    }

    private ChaosTopic any() {
        return topics.get(random.nextInt(topics.size()));
    }
}
