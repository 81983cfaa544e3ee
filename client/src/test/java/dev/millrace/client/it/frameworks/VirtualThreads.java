package dev.millrace.client.it.frameworks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.oracle.DeliveryOracle;
import dev.millrace.testkit.oracle.Stamp;
import dev.millrace.testkit.oracle.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Sends from 10,000 virtual threads with one producer. At first topics are unknown, and memory is for fewer batches
 * than there are partitions, so that threads wait in every place where {@code send} can. The JVM records which of them
 * kept its carrier thread while it waited. Needs a JDK of at least 21.
 */
final class VirtualThreads {
    static final List<String> TOPICS = List.of("virtual-1", "virtual-2", "virtual-3");
    static final int PARTITIONS = 4;
    private static final int THREADS = 10_000;
    private static final int WARM_UP_THREADS = 1_000;
    private static final int RECORDS_PER_THREAD = 20;
    private static final String PINNED = "jdk.VirtualThreadPinned";

    private final DeliveryOracle oracle = new DeliveryOracle(1);
    private final Map<String, Object> client;

    private VirtualThreads(String bootstrapServers) {
        client = Map.of("bootstrap.servers", bootstrapServers);
    }

    public static void main(String[] arguments) throws Exception {
        new VirtualThreads(arguments[0]).run();
    }

    private void run() throws Exception {
        ExecutorService threads = virtualThreads();
        sendFrom(0, WARM_UP_THREADS, threads); // Loading a class pins any thread that waits for it.
        List<RecordedEvent> pinned;
        try (Recording recording = new Recording()) {
            recording.enable(PINNED).withThreshold(Duration.ZERO).withStackTrace();
            recording.start();
            threads.submit(PinsOnPurpose::touch).get();
            sendFrom(WARM_UP_THREADS, WARM_UP_THREADS + THREADS, threads);
            recording.stop();
            pinned = events(recording);
        }

        Verdict verdict = oracle.judge(client, TOPICS);
        List<RecordedEvent> byUs = pinned.stream()
                .filter(event -> passes(event, "dev.millrace.client.") && !passes(event, PinsOnPurpose.class.getName()))
                .toList();
        System.out.println(verdict + "; pinned: " + pinned.size() + " times, by us " + byUs.size());
        assertThat(pinned)
                .as("the one that pins on purpose is seen")
                .anyMatch(event -> passes(event, PinsOnPurpose.class.getName()));
        assertThat(byUs).isEmpty();
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
        long sent = (WARM_UP_THREADS + THREADS) * (long) RECORDS_PER_THREAD;
        assertThat(verdict.acknowledged()).isEqualTo(sent);
        assertThat(verdict.read()).isEqualTo(sent);
    }

    /** A new producer, which knows no topic. */
    private void sendFrom(int first, int end, ExecutorService threads) throws Exception {
        try (Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                client, "buffer.memory", 100_000L, "batch.size", 16_384, "max.block.ms", 120_000L)) {
            List<Future<?>> senders = new ArrayList<>();
            for (int thread = first; thread < end; thread++) {
                int number = thread;
                senders.add(threads.submit(() -> send(producer, number)));
            }
            for (Future<?> sender : senders) {
                sender.get(2, TimeUnit.MINUTES);
            }
        }
    }

    private Void send(Producer<byte[], byte[]> producer, int thread) throws Exception {
        Future<RecordMetadata> last = null;
        for (int i = 0; i < RECORDS_PER_THREAD; i++) {
            Stamp stamp = new Stamp(1, thread, TOPICS.get(i % TOPICS.size()), (thread + i) % PARTITIONS, i);
            last = producer.send(
                    new ProducerRecord<>(stamp.topic(), stamp.partition(), null, stamp.encode(100)), (metadata, e) -> {
                        if (e == null) {
                            oracle.onAcknowledged(stamp);
                        }
                    });
        }
        if (thread % 100 == 0) {
            producer.flush();
        }
        last.get();
        return null;
    }

    /** Uses reflection, because the tests are compiled for JDK 17. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    private static List<RecordedEvent> events(Recording recording) throws IOException {
        Path file = Files.createTempFile("pinned", ".jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(PINNED))
                .collect(Collectors.toList());
    }

    private static boolean passes(RecordedEvent event, String namePrefix) {
        return event.getStackTrace().getFrames().stream()
                .anyMatch(frame -> frame.getMethod().getType().getName().startsWith(namePrefix));
    }

    /** Waiting while a class is initialized pins a thread on any JDK, because a native frame is below. */
    private static final class PinsOnPurpose {
        static {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }

        static void touch() {}
    }
}
