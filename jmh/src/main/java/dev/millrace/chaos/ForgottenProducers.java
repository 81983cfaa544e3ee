package dev.millrace.chaos;

import dev.millrace.faults.FaultLog;
import dev.millrace.faults.Faults;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.TopicPartition;

/**
 * Looks whether brokers forget the producer of records of days ago, which they do by themselves every second. It sees
 * only some of these moments, since the next batch makes the broker know the producer again.
 */
final class ForgottenProducers extends Faults {
    private final ChaosCluster cluster;
    private final List<TopicPartition> partitions;

    /** Partitions whose leader knew a producer when it was asked last. */
    private final Set<TopicPartition> known = new HashSet<>();

    ForgottenProducers(ChaosCluster cluster, List<ChaosTopic> topics, Random random, FaultLog log, CountDownLatch end) {
        super(random, log, end);
        this.cluster = cluster;
        partitions = topics.stream()
                .filter(ChaosTopic::isOld)
                .flatMap(topic -> topic.allPartitions().stream())
                .toList();
    }

    @Override
    protected List<Runnable> kinds() {
        return List.of(this::look);
    }

    @Override
    protected Duration pause() {
        return between(50, 250);
    }

    private void look() {
        cluster.hasProducers(partitions).forEach((partition, isKnown) -> {
            if (isKnown) {
                known.add(partition);
            } else if (known.remove(partition)) {
                log.count("seen: the producer of old records is forgotten");
            }
        });
    }
}
