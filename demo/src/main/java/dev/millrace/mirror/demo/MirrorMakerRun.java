package dev.millrace.mirror.demo;

import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The main class of one run of MirrorMaker 1 or 2. Starts MirrorMaker's own main class, with interceptors that measure at
 * the same moments as {@link Measurement} in this mirror. Prints what {@link DemoProcess} reads.
 *
 * <p>The class path is MirrorMaker's, followed by the classes of the demo and of the mirror. So this class may use only
 * the JDK and the interfaces of kafka-clients 3.9, and no library of the mirror.
 *
 * <p><b>Threads:</b> MirrorMaker's consumer threads call {@link PollInterceptor}, the I/O threads of its
 * producers call {@link AckInterceptor}, the main thread waits for the end.
 * <p><b>Ordering:</b> the clock is stopped before the latch opens, and read after.
 */
final class MirrorMakerRun {
    /** Without it, a run that loses records or cannot reach a broker would never end. */
    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(60);

    private static final AtomicLong ACKNOWLEDGED = new AtomicLong();
    private static final CountDownLatch ALL_ACKNOWLEDGED = new CountDownLatch(1);
    private static String mirrorMaker;
    private static long expected;
    private static RunClock clock;

    private MirrorMakerRun() {}

    /** The arguments are the number of records to wait for, MirrorMaker's main class, and then its arguments. */
    public static void main(String[] args) throws Exception {
        DemoProcess.endWithParent();
        expected = Long.parseLong(args[0]);
        clock = new RunClock(expected, DemoProcess::printStart);
        mirrorMaker = args[1];
        String[] own = Arrays.copyOfRange(args, 2, args.length);
        Thread main = new Thread(() -> run(own), "mirror-maker");
        main.setDaemon(true);
        main.start();

        awaitEnd();
        DemoProcess.print(Measurement.Figures.untimed(clock));
        Runtime.getRuntime().halt(0);
    }

    private static void run(String[] args) {
        try {
            Class.forName(mirrorMaker).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException e) {
            fail(mirrorMaker + " failed: " + e.getCause());
        } catch (ReflectiveOperationException e) {
            fail(mirrorMaker + " cannot be started: " + e);
        }
    }

    private static void awaitEnd() throws InterruptedException {
        long before = 0;
        long lastChange = System.nanoTime();
        while (!ALL_ACKNOWLEDGED.await(1, TimeUnit.SECONDS)) {
            long now = ACKNOWLEDGED.get();
            DemoProcess.print(now);
            if (now != before) {
                before = now;
                lastChange = System.nanoTime();
            } else if (System.nanoTime() - lastChange > STALL_TIMEOUT.toNanos()) {
                fail(mirrorMaker + " has written " + now + " of " + expected + " records, and none for "
                        + STALL_TIMEOUT.toSeconds() + " s");
            }
        }
    }

    private static void fail(String message) {
        System.out.println(message);
        Runtime.getRuntime().halt(1);
    }

    /** Reports the polled records of the demo's topic to the clock; MirrorMaker 2 reads topics of its own, too. */
    public static final class PollInterceptor implements ConsumerInterceptor<byte[], byte[]> {
        @Override
        public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
            int count = 0;
            for (TopicPartition partition : records.partitions()) {
                count += partition.topic().equals(Demo.TOPIC)
                        ? records.records(partition).size()
                        : 0;
            }
            clock.onPolled(count);
            return records;
        }

        @Override
        public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }

    /** Stops the clock at the acknowledgement of the last record. */
    public static final class AckInterceptor implements ProducerInterceptor<byte[], byte[]> {
        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
            if (exception == null
                    && metadata.topic().equals(Demo.TOPIC)
                    && ACKNOWLEDGED.incrementAndGet() == expected) {
                clock.stop();
                DemoProcess.printEnd(clock.measuredRecords());
                ALL_ACKNOWLEDGED.countDown();
            }
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }
}
