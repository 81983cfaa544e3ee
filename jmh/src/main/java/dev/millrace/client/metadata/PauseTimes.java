package dev.millrace.client.metadata;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Measures whether the look-ups of {@code send} wait while another thread writes the names of all topics to a file, or
 * publishes images in which thousands of topics change. The control is a thread that does the same work, but writes
 * names that it already has, and publishes nothing: it takes as much of the processor, the caches and the disk.
 */
final class PauseTimes {
    private static final int ROUNDS = 5;
    private static final long ROUND_NS = 300_000_000;

    /** Names are looked up in another order than that in which they lie in memory. */
    private static final int STRIDE = 7_919;

    private final ClusterImages images;
    private final String[] names;
    private long partitions;

    private PauseTimes(SampleCluster cluster) {
        images = new ClusterImages(ClusterImage.bootstrap(List.of()));
        images.applyDelta(delta(cluster.topics()));
        names = cluster.topics().stream().map(SampleCluster.Topic::name).toArray(String[]::new);
    }

    private static ClusterDelta delta(List<SampleCluster.Topic> topics) {
        List<TopicImage> described =
                topics.stream().map(SampleCluster.Topic::toImage).toList();
        return new ClusterDelta("cluster", List.of(), described, Map.of(), false);
    }

    /** Adds medians to {@code results}; takes some seconds. */
    static void measure(ImageResults results) throws IOException {
        SampleCluster cluster = new SampleCluster(StartTimes.MANY);
        PauseTimes pauses = new PauseTimes(cluster);
        Path path = Files.createTempFile("millrace-names-", "");
        try {
            TopicNamesFile file = new TopicNamesFile(path);
            TopicNames ready = new TopicNames("cluster", pauses.images.current().topicNames());
            pauses.compare(
                    results,
                    ImageResults.WHILE_WRITTEN,
                    () -> write(
                            file,
                            new TopicNames("cluster", pauses.images.current().topicNames())),
                    () -> write(file, ready));
        } finally {
            Files.delete(path);
        }
        ClusterDelta lost = delta(cluster.brokerLost());
        ClusterDelta back = delta(cluster.brokerBack());
        pauses.compare(
                results,
                ImageResults.WHILE_CHANGED,
                () -> {
                    pauses.images.applyDelta(lost);
                    pauses.images.applyDelta(back);
                },
                () -> pauses.images.current().withDelta(lost).withDelta(back));
    }

    private static void write(TopicNamesFile file, TopicNames topics) {
        try {
            file.write(topics, System.currentTimeMillis());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void compare(ImageResults results, String measure, Runnable work, Runnable control) {
        double[] withWork = new double[ROUNDS];
        double[] withControl = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            withWork[round] = p999(work);
            withControl[round] = p999(control);
        }
        Arrays.sort(withWork);
        Arrays.sort(withControl);
        results.addPause(measure, StartTimes.MANY, withWork[ROUNDS / 2], withControl[ROUNDS / 2]);
    }

    /** Of look-ups beside a thread that does {@code work} again and again, in nanoseconds. */
    private double p999(Runnable work) {
        AtomicBoolean ended = new AtomicBoolean();
        AtomicBoolean begun = new AtomicBoolean();
        Thread worker = new Thread(() -> {
            while (!ended.get()) {
                work.run();
                begun.set(true);
            }
        });
        worker.start();
        while (!begun.get() && worker.isAlive()) {
            LockSupport.parkNanos(1_000_000);
        }
        Histogram took = new Histogram(3);
        long startNs = System.nanoTime();
        long fromNs = startNs;
        for (int i = 0; fromNs - startNs < ROUND_NS && worker.isAlive(); i = (i + STRIDE) % names.length) {
            partitions += images.current().topic(names[i]).partitions();
            long untilNs = System.nanoTime();
            took.recordValue(untilNs - fromNs);
            fromNs = untilNs;
        }
        ended.set(true);
        join(worker);
        if (partitions % SampleCluster.PARTITIONS != 0 || fromNs - startNs < ROUND_NS) {
            throw new IllegalStateException("A topic has not all its partitions, or the other thread has failed");
        }
        return took.getValueAtPercentile(99.9);
    }

    private static void join(Thread worker) {
        try {
            worker.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
