package dev.millrace.chaos;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Settings of topics that change for a moment, so that brokers refuse batches before they write them, while others of
 * the same partition are in flight.
 */
final class SettingFaults extends Faults {
    private final ChaosCluster cluster;
    private final List<ChaosTopic> kept;

    SettingFaults(ChaosCluster cluster, List<ChaosTopic> topics, Random random, FaultLog log, CountDownLatch end) {
        super(random, log, end);
        this.cluster = cluster;
        kept = topics.stream().filter(topic -> topic.kind().isKept()).toList();
    }

    @Override
    protected List<Runnable> kinds() {
        return List.of(this::refuse);
    }

    @Override
    protected Duration pause() {
        return between(500, 3_000);
    }

    private void refuse() {
        String topic = kept.get(random.nextInt(kept.size())).name();
        log.fault(topic, "too few replicas are in sync for any batch");
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        cluster.set(resource, ChaosTopic.MIN_IN_SYNC, Integer.toString(ChaosCluster.BROKERS + 1));
        hold(between(50, 500));
        cluster.set(resource, ChaosTopic.MIN_IN_SYNC, ChaosTopic.KEPT_IN_SYNC);
        log.tell("%s: enough replicas are in sync", topic);
    }
}
