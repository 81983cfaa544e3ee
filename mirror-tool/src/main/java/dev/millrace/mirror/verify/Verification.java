package dev.millrace.mirror.verify;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.progress.MirrorPositions;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.TopicSettings;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the topics of a mirror's source with their copies, up to their present ends, whether or not the mirror runs.
 * Changes nothing.
 *
 * <p><b>Threads:</b> one thread calls {@link #run}, once. Each worker compares one partition at a time with its own
 * consumers; results are in concurrent queues, which the calling thread reads when all workers have ended.
 */
public final class Verification {
    private static final Logger LOG = LoggerFactory.getLogger(Verification.class);
    private static final long PROGRESS_INTERVAL_MS = 1_000;

    private final MirrorConfig config;
    private final OptionalLong sample;
    private final VerifyObserver observer;
    private final Queue<Map.Entry<TopicPartition, PartitionRange>> waiting = new ConcurrentLinkedQueue<>();
    private final Queue<Map.Entry<TopicPartition, PartitionResult>> compared = new ConcurrentLinkedQueue<>();
    private final Queue<Map.Entry<TopicPartition, String>> problems = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final LongAdder recordsRead = new LongAdder();

    /**
     * @param sample how many of the last records of each partition are compared; all, if empty
     */
    public Verification(MirrorConfig config, OptionalLong sample, VerifyObserver observer) {
        this.config = config;
        this.sample = sample;
        this.observer = observer;
    }

    /**
     * Compares. Blocks until everything is read, and reports its progress once a second.
     *
     * @throws MirrorException when a cluster does not answer, both are the same, or no topic matches
     */
    public VerifyResult run() {
        try (Admin source = Clusters.connect(PartitionReader.SOURCE, DerivedConfigs.admin(config.consumer()));
                Admin target = Clusters.connect(PartitionReader.TARGET, DerivedConfigs.admin(config.producer()))) {
            return run(source, target);
        } catch (KafkaException e) {
            throw MirrorException.failed("Cannot verify", e);
        }
    }

    private VerifyResult run(Admin source, Admin target) {
        String sourceId = Clusters.clusterId(source, config.consumer());
        String targetId = Clusters.clusterId(target, config.producer());
        Clusters.checkDistinct(sourceId, targetId);
        MatchingTopics topics = MatchingTopics.ask(source, config);
        CopiesOnTarget copies = new CopiesOnTarget(target, config.names());
        MirrorPositions positions =
                MirrorPositions.read(config, source, target, sourceId, targetId).atStart(config, source, targetId);
        Set<String> compacted = new HashSet<>();
        PartitionRanges ranges = new PartitionRanges(config, source, copies, sample);
        for (List<String> batch : Clusters.batches(topics.mirrored())) {
            waiting.addAll(ranges.ask(batch, positions).entrySet());
            addCompacted(Clusters.topicConfigs(source, batch), compacted);
            addCompacted(copies.configs(batch), compacted);
        }
        compareAll(compacted);
        return new VerifyResult(sourceId, targetId, positions, results(topics, compacted), allowed());
    }

    private static void addCompacted(Map<String, KafkaFuture<Config>> settings, Set<String> compacted) {
        settings.forEach((topic, answer) -> {
            try {
                if (TopicSettings.cleanupPolicies(Clusters.awaitUnchecked(answer))
                        .contains("compact")) {
                    compacted.add(topic);
                }
            } catch (UnknownTopicOrPartitionException e) {
                LOG.debug("The target does not have topic {}", topic);
            }
        });
    }

    private void compareAll(Set<String> compacted) {
        int partitions = waiting.size();
        int threads = Math.min(config.threads(), partitions);
        CountDownLatch running = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            Thread worker = new Thread(
                    () -> {
                        try {
                            compareWaiting(compacted);
                        } catch (Throwable e) {
                            failure.compareAndSet(null, e);
                        } finally {
                            running.countDown();
                        }
                    },
                    "mirror-verify-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        try {
            while (!running.await(PROGRESS_INTERVAL_MS, TimeUnit.MILLISECONDS)) {
                observer.onProgress(compared.size() + problems.size(), partitions, recordsRead.sum());
            }
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
        if (failure.get() != null) {
            throw MirrorException.failed("Cannot verify", failure.get());
        }
    }

    private void compareWaiting(Set<String> compacted) {
        try (PartitionComparison comparison = new PartitionComparison(config, recordsRead::add)) {
            for (var next = waiting.poll(); next != null; next = waiting.poll()) {
                TopicPartition partition = next.getKey();
                try {
                    PartitionResult result =
                            comparison.compare(partition, next.getValue(), compacted.contains(partition.topic()));
                    compared.add(Map.entry(partition, result));
                    if (sample.isPresent() && result.same() == 0 && result.source() > 0 && result.target() > 0) {
                        problems.add(Map.entry(partition, "nothing in common with the target in this sample"));
                    }
                } catch (KafkaException | MirrorException e) {
                    problems.add(Map.entry(partition, MirrorException.reason(e)));
                }
            }
        }
    }

    private List<TopicResult> results(MatchingTopics topics, Set<String> compacted) {
        Map<String, TopicResult> results = new TreeMap<>();
        topics.mirrored().forEach(topic -> results.put(topic, result(topic, compacted)));
        topics.refused().forEach((topic, why) -> {
            results.put(topic, result(topic, compacted));
            results.get(topic).problems().add("is not mirrored: " + why);
        });
        compared.forEach(
                entry -> results.get(entry.getKey().topic()).partitions().add(entry.getValue()));
        problems.forEach(entry -> results.get(entry.getKey().topic())
                .problems()
                .add("partition " + entry.getKey().partition() + " cannot be compared: " + entry.getValue()));
        return List.copyOf(results.values());
    }

    private TopicResult result(String topic, Set<String> compacted) {
        return new TopicResult(
                topic, config.names().onTarget(topic), compacted.contains(topic), new ArrayList<>(), new ArrayList<>());
    }

    private Set<Fault> allowed() {
        if (config.policies().resume() != ResumeMode.AT_LEAST_ONCE) {
            return Set.of();
        }
        // Doubled records may come from before the sample of the source.
        return sample.isPresent() ? Set.of(Fault.DOUBLED, Fault.EXTRA) : Set.of(Fault.DOUBLED);
    }
}
