package dev.millrace.race;

import java.lang.management.ManagementFactory;
import java.util.EnumMap;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Main class that does what most command-line tools do: it makes a producer, sends one record, waits for its
 * acknowledgement and closes. The last line on standard output is the JSON of {@link RaceMetric}. On any failure it
 * ends with code 1.
 *
 * <p>Arguments are {@code class}, {@code config.KEY}, {@code topic} and {@code size} of {@link Racer}.
 *
 * <p>What runs before the acknowledgement uses little of the JDK, because each class that it loads would be loaded for
 * every producer.
 */
final class FirstRecord {
    /** How many JVMs a round starts, because one start says little. */
    static final int STARTS_PER_ROUND = 7;

    private FirstRecord() {}

    public static void main(String[] line) throws Exception {
        RacerArguments arguments = new RacerArguments(line);
        byte[] value = new byte[arguments.integer("size")];
        long acknowledgedAt;
        try (Producer<byte[], byte[]> producer = Racer.producer(arguments.text("class"), arguments.config())) {
            producer.send(new ProducerRecord<>(arguments.text("topic"), value)).get();
            acknowledgedAt = System.currentTimeMillis();
        }
        double classes = ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount();
        long startedAt = ManagementFactory.getRuntimeMXBean().getStartTime();
        Map<RaceMetric, Double> metrics = new EnumMap<>(RaceMetric.class);
        metrics.put(RaceMetric.FIRST_ACK_MS, (double) (acknowledgedAt - startedAt));
        metrics.put(RaceMetric.CLASSES_LOADED, classes);
        System.out.println(RaceMetric.toJson(metrics));
    }
}
