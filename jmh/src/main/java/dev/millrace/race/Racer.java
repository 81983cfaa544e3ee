package dev.millrace.race;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Main class that runs one producer in a JVM of its own: many threads send through it, first to warm up, then measured
 * from the barrier on which all threads start to the end of {@code flush()}. The last line on standard output is the
 * JSON of {@link RaceMetric}; with {@code turns} there is such a line for each. On any failure, which includes a refused
 * send and a record that did not arrive, it ends with code 1.
 *
 * <p>It needs only the JDK, HdrHistogram and the {@code kafka-clients} to be measured, in any version.
 *
 * <p>Arguments, as {@code name=value}, all required:
 * <ul>
 * <li>{@code class}: the class of the producer, {@code org.apache.kafka.clients.producer.KafkaProducer} or
 *     {@code dev.millrace.client.MillraceProducer}
 * <li>{@code config.KEY}: a setting of the producer, any number of times; {@code bootstrap.servers} is one
 * <li>{@code topic}, {@code partitions}: the topic to send to, and its number of partitions
 * <li>{@code partition_choice}: {@code partition} (each record names its partition, in turn), {@code key} or
 *     {@code sticky} (neither)
 * <li>{@code step}: the distance from one partition that a thread names to the next
 * <li>{@code threads}, {@code size} (bytes of a value)
 * <li>{@code records} (of all threads together); {@code seconds}: 0, or how long to send instead, in the measured part
 * <li>{@code warmup} (records before the measured ones), {@code warmup_ms}: 0, or how long the warm-up is repeated; then
 *     it ends with that time, at whatever record
 * <li>{@code rate}: records per second of all threads together; 0 for as fast as possible
 * <li>{@code turns}: 0, or how many measured parts there are instead of one
 * <li>{@code pause_file}: empty, or a {@link PauseFile} to pause at, before and after each measured part; without
 *     {@code turns}, nothing is timed then
 * <li>{@code callbacks}: whether every send has a callback, not only those that {@link AckMeter} measures
 * <li>{@code new_callbacks}: whether each of these is an object of its own
 * <li>{@code check_arrivals}: whether to check with the brokers that every record arrived
 * </ul>
 */
public final class Racer {
    private final RacerArguments arguments;
    private final Producer<byte[], byte[]> producer;
    private final PreparedRecords prepared;
    private final int threads;
    private final ArrivalCounter arrivals;
    /** What it counted last. */
    private long arrived;

    private Racer(RacerArguments arguments, Producer<byte[], byte[]> producer) {
        this.arguments = arguments;
        this.producer = producer;
        threads = arguments.integer("threads");
        prepared = new PreparedRecords(arguments);
        arrivals = new ArrivalCounter(producer, arguments.text("topic"), arguments.integer("partitions"));
    }

    public static void main(String[] arguments) throws Exception {
        RacerArguments given = new RacerArguments(arguments);
        if (given.integer("turns") > 0) {
            runTurns(given);
        } else {
            print(run(given, MeasurementListener.NONE));
        }
    }

    private static void print(Map<RaceMetric, Double> metrics) {
        System.out.println(RaceMetric.toJson(metrics));
    }

    /** Sends as {@link #main} does, but tells a listener when the measured part begins and ends, and prints nothing. */
    public static void runMeasured(String[] arguments, MeasurementListener listener) throws Exception {
        run(new RacerArguments(arguments), listener);
    }

    static Map<RaceMetric, Double> run(RacerArguments arguments, MeasurementListener listener) throws Exception {
        try (Producer<byte[], byte[]> producer = producer(arguments.text("class"), arguments.config())) {
            return new Racer(arguments, producer).race(listener);
        }
    }

    private static void runTurns(RacerArguments arguments) throws Exception {
        try (Producer<byte[], byte[]> producer = producer(arguments.text("class"), arguments.config())) {
            Racer racer = new Racer(arguments, producer);
            racer.warmUp();
            racer.pause();
            for (int turn = 0; turn < arguments.integer("turns"); turn++) {
                print(racer.measure(MeasurementListener.NONE));
                racer.pause();
            }
        }
    }

    @SuppressWarnings("unchecked")
    static Producer<byte[], byte[]> producer(String name, Map<String, Object> config)
            throws ReflectiveOperationException {
        return (Producer<byte[], byte[]>) Class.forName(name)
                .asSubclass(Producer.class)
                .getConstructor(Map.class, Serializer.class, Serializer.class)
                .newInstance(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private Map<RaceMetric, Double> race(MeasurementListener listener) throws Exception {
        warmUp();
        if (isTraced()) {
            pause();
        }
        return measure(listener);
    }

    private void warmUp() throws Exception {
        long begun = System.nanoTime();
        arrived = arrivals.count();
        check(sendToWarmUp(begun));
        double rate = arguments.whole("rate");
        if (rate > 0) {
            // Warm up the code that keeps the rate, too, for a second.
            send(Sender.Limit.ofRecords((long) rate), rate, MeasurementListener.NONE);
            arrived = arrivals.count();
        }
        System.gc();
    }

    private Map<RaceMetric, Double> measure(MeasurementListener listener) throws Exception {
        double rate = arguments.whole("rate");
        Measured measured = send(measuredLimit(), rate, listener);
        if (isTraced()) {
            pause();
        }
        check(measured.records);
        return measured.metrics;
    }

    /** Returns how many records it sent. */
    private long sendToWarmUp(long begun) throws Exception {
        long records = arguments.whole("warmup");
        long nanos = TimeUnit.MILLISECONDS.toNanos(arguments.whole("warmup_ms"));
        if (nanos == 0) {
            return send(Sender.Limit.ofRecords(records), Sender.UNLIMITED, MeasurementListener.NONE).records;
        }
        long sent = 0;
        for (long left = nanos; left > 0; left = begun + nanos - System.nanoTime()) {
            sent += send(new Sender.Limit(records, left), Sender.UNLIMITED, MeasurementListener.NONE).records;
        }
        return sent;
    }

    private Sender.Limit measuredLimit() {
        long seconds = arguments.whole("seconds");
        return seconds > 0
                ? Sender.Limit.ofNanos(TimeUnit.SECONDS.toNanos(seconds))
                : Sender.Limit.ofRecords(arguments.whole("records"));
    }

    private void pause() throws Exception {
        PauseFile.pause(Path.of(arguments.text("pause_file")));
    }

    /** Whether system calls and clock reads are counted from outside, so that the racer reads no clock itself. */
    private boolean isTraced() {
        return arguments.integer("turns") == 0 && !arguments.text("pause_file").isEmpty();
    }

    /** Checks that so many records have arrived since the last count. */
    private void check(long sent) throws Exception {
        long before = arrived;
        arrived = arrivals.count();
        if (sent != arrived - before && arguments.flag("check_arrivals")) {
            throw new IllegalStateException((arrived - before) + " of " + sent + " records arrived");
        }
    }

    /** What was sent, and its metrics. */
    private record Measured(long records, Map<RaceMetric, Double> metrics) {}

    private Measured send(Sender.Limit limit, double rate, MeasurementListener listener) throws Exception {
        AckMeter acks = new AckMeter(arguments.flag("callbacks"), arguments.flag("new_callbacks"), rate);
        List<Sender> senders = new ArrayList<>();
        AtomicLong start = new AtomicLong();
        CyclicBarrier barrier = new CyclicBarrier(threads + 1, () -> start.set(System.nanoTime()));
        for (int i = 0; i < threads; i++) {
            Sender.Pace pace = new Sender.Pace(rate / threads, (double) i / threads);
            senders.add(new Sender(producer, prepared.forThread(i), limit.share(i, threads), pace, acks, !isTraced()));
        }
        // Before the threads are created: at that point the JVM decides when to take their first sample of allocations.
        listener.onBegin();
        List<Thread> running = new ArrayList<>();
        for (Sender sender : senders) {
            Thread thread = new Thread(() -> sender.run(barrier), "sender-" + running.size());
            thread.start();
            running.add(thread);
        }
        ProcessMeter meter = new ProcessMeter(running);
        barrier.await();
        for (Thread thread : running) {
            thread.join();
        }
        producer.flush();
        long nanos = System.nanoTime() - start.get();
        ProcessMeter.Usage usage = meter.stop();
        listener.onEnd();

        for (Sender sender : senders) {
            sender.rethrow();
        }
        long records = senders.stream().mapToLong(Sender::sent).sum();
        acks.check(records);
        return new Measured(records, metrics(records, nanos, usage, senders, acks));
    }

    private static Map<RaceMetric, Double> metrics(
            long records, long nanos, ProcessMeter.Usage usage, List<Sender> senders, AckMeter acks) {
        Histogram sends = Sender.histogram();
        senders.forEach(sender -> sends.add(sender.times()));
        double senderBytes = senders.stream().mapToLong(Sender::allocatedBytes).sum();
        Map<RaceMetric, Double> metrics = new EnumMap<>(RaceMetric.class);
        metrics.put(RaceMetric.RECORDS_PER_S, records * 1e9 / nanos);
        metrics.put(RaceMetric.CPU_NS_PER_RECORD, (double) usage.cpuNanos() / records);
        metrics.put(RaceMetric.SEND_P50_US, sends.getValueAtPercentile(50) / 1e3);
        metrics.put(RaceMetric.SEND_P99_US, sends.getValueAtPercentile(99) / 1e3);
        metrics.put(RaceMetric.SEND_P999_US, sends.getValueAtPercentile(99.9) / 1e3);
        metrics.put(RaceMetric.SEND_MAX_US, sends.getMaxValue() / 1e3);
        metrics.put(RaceMetric.ACK_P50_MS, acks.nanosAt(50) / (double) TimeUnit.MILLISECONDS.toNanos(1));
        metrics.put(RaceMetric.ACK_P99_MS, acks.nanosAt(99) / (double) TimeUnit.MILLISECONDS.toNanos(1));
        metrics.put(RaceMetric.BYTES_PER_RECORD, (senderBytes + usage.otherBytes()) / records);
        metrics.put(RaceMetric.SENDER_BYTES_PER_RECORD, senderBytes / records);
        metrics.put(RaceMetric.GC_MS, (double) usage.gcMillis());
        metrics.put(RaceMetric.GC_COUNT, (double) usage.gcCount());
        metrics.put(RaceMetric.COMPILER_MS, (double) usage.compilerMillis());
        return metrics;
    }
}
