package dev.millrace.soak;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** One run: many short-lived producers, then one at a fixed rate while topics come and go; each time what is left after it. */
final class SoakRun {
    private static final String STAYING = "staying";
    private static final int COMING_TOPICS = 8;

    /** Of a series of the heap: more show a slow growth better, but for each all records must have an outcome. */
    private static final int POINTS = 12;

    private static final int POINTS_OF_A_SHORT_RUN = 4;

    /** Cycles, and changes of topics, until all classes are loaded and all that is made once is made. */
    private static final int WARM_UP = 25;

    /** Between two changes of topics, so that some records reach each. */
    private static final Duration CHANGE_PAUSE = Duration.ofMillis(100);

    /**
     * The buffers that a producer keeps, and as much again for its metrics and for what the JVM makes late. What 2,000
     * producers or a million records leave would be more.
     */
    private static final long MAX_GROWTH_BYTES = 2 * SteadyLoad.BUFFER_BYTES;

    /** Connections of the cluster's own client that come and go. A leak of 20 producers or topics is more. */
    private static final int MAX_MORE_FILES = 8;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final KafkaCluster cluster;
    private final PrintStream out;
    private final List<String> coming =
            IntStream.range(0, COMING_TOPICS).mapToObj(i -> "coming-" + i).toList();
    private final List<String> existing = new ArrayList<>();
    private final Random random = new Random(1);
    private final List<String> leaks = new ArrayList<>();

    SoakRun(KafkaCluster cluster, PrintStream out) {
        this.cluster = cluster;
        this.out = out;
        cluster.createTopic(STAYING, 3, 1, Map.of());
    }

    /** The cluster of a run, of one broker. */
    static KafkaCluster startCluster() {
        return KafkaCluster.builder()
                // Topics come and go here; otherwise producers, which go on asking for them, create them again.
                .setting("auto.create.topics.enable", "false")
                .start();
    }

    /** Opens, uses and closes so many producers. */
    void openAndClose(int cycles) {
        ProducerCycles producers = new ProducerCycles(cluster, STAYING);
        IntStream.range(0, WARM_UP).forEach(producers::run);
        HeapSeries heap = HeapSeries.ofThisJvm();
        Resources before = Resources.now();
        for (int cycle = 1; cycle <= cycles; cycle++) {
            producers.run(cycle);
            if (cycle % Math.max(1, cycles / POINTS) == 0) {
                print(cycle + " cycles", heap);
            }
        }
        report("cycles " + cycles, heap, before);
    }

    /** Sends for this time, and then until every record has an outcome. */
    void sendSteadily(Duration time, int recordsPerSecond) throws InterruptedException {
        HeapSeries heap = HeapSeries.ofThisJvm();
        Resources before = Resources.now();
        String figures;
        try (SteadyLoad load = new SteadyLoad(cluster)) {
            int changes = change(load, recordsPerSecond, done -> done < WARM_UP);
            int points = time.toMinutes() < 1 ? POINTS_OF_A_SHORT_RUN : POINTS;
            long start = System.nanoTime();
            for (int point = 1; point <= points; point++) {
                long end = start + time.toNanos() / points * point;
                changes += change(load, recordsPerSecond, done -> System.nanoTime() - end < 0);
                print(load.acknowledged() + " records", heap);
            }
            if (load.sent() != load.acknowledged() + load.failed()) {
                leaks.add("some of " + load.sent() + " records have no outcome");
            }
            try {
                Await.until("all memory is free", PATIENCE, () -> load.usedBufferBytes() == 0);
            } catch (IllegalStateException e) {
                leaks.add(load.usedBufferBytes() + " bytes of buffers in use");
            }
            figures = String.format(
                    Locale.ROOT,
                    "sent %d acknowledged %d failed %d topic-changes %d",
                    load.sent(),
                    load.acknowledged(),
                    load.failed(),
                    changes);
        }
        report(figures, heap, before);
    }

    /** Sends while it changes topics, as long as it is told to; then blocks until no record is on its way. */
    private int change(SteadyLoad load, int recordsPerSecond, IntPredicate goesOn) throws InterruptedException {
        load.start(recordsPerSecond, STAYING, coming);
        int changes = 0;
        while (goesOn.test(changes)) {
            changeATopic();
            changes++;
            LockSupport.parkNanos(CHANGE_PAUSE.toNanos());
        }
        load.stop();
        return changes;
    }

    /** Creates a topic that does not exist, or deletes one that does. */
    private void changeATopic() {
        String topic = coming.get(random.nextInt(COMING_TOPICS));
        if (existing.remove(topic)) {
            try {
                cluster.admin().deleteTopics(List.of(topic)).all().get();
            } catch (InterruptedException | ExecutionException e) {
                throw new IllegalStateException("Cannot delete " + topic, e);
            }
        } else {
            cluster.createTopic(topic, 1 + random.nextInt(4), 1, Map.of());
            existing.add(topic);
        }
    }

    private void print(String what, HeapSeries heap) {
        long used = heap.add();
        Resources now = Resources.now();
        out.printf(
                Locale.ROOT,
                "%,18d bytes in use, %d threads, %d beans, %d files after %s%n",
                used,
                now.threads().size(),
                now.beans().size(),
                now.files(),
                what);
    }

    private void report(String figures, HeapSeries heap, Resources before) {
        try { // a thread ends just after close has returned
            Await.until(
                    "threads have ended", PATIENCE, () -> left(before).threads().isEmpty());
        } catch (IllegalStateException e) {
            leaks.add("threads: " + left(before).threads());
        }
        Resources left = left(before);
        if (!left.beans().isEmpty()) {
            leaks.add("beans: " + left.beans());
        }
        if (left.files() > MAX_MORE_FILES) {
            leaks.add("files: " + left.files());
        }
        if (heap.growthBytes() > MAX_GROWTH_BYTES) {
            leaks.add("memory: " + heap.growthBytes() + " bytes");
        }
        out.printf(
                Locale.ROOT,
                "%s memory-growth %d left threads %d beans %d files %d%n",
                figures,
                heap.growthBytes(),
                left.threads().size(),
                left.beans().size(),
                left.files());
    }

    private static Resources left(Resources before) {
        return Resources.now().since(before);
    }

    /** What should not be there, in words. */
    List<String> leaks() {
        return List.copyOf(leaks);
    }
}
