package dev.millrace.mirror.demo;

import dev.millrace.mirror.cli.ClientConfigs;
import dev.millrace.testkit.mirrormaker.MavenJars;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * MirrorMaker 1, last released with Kafka 3.9: {@code kafka.tools.MirrorMaker} with the jars of that release.
 *
 * <p><b>Threads:</b> one.
 */
final class MirrorMaker1 implements MirrorMaker {
    private static final String MAIN = "kafka.tools.MirrorMaker";
    /** The options of its start script, with a larger heap: 256 MB are too little for 32 streams. */
    private static final List<String> SHIPPED_OPTIONS = List.of(
            "-server",
            "-XX:+UseG1GC",
            "-XX:MaxGCPauseMillis=20",
            "-XX:InitiatingHeapOccupancyPercent=35",
            "-XX:+ExplicitGCInvokesConcurrent",
            "-Xms1g",
            "-Xmx1g",
            DemoProcess.PRE_TOUCH_HEAP);

    private final MavenJars jars = new MavenJars("mirrormaker1");

    @Override
    public Measurement.Figures run(Contender contender, Job job, RunListener listener) {
        boolean tuned = contender == Contender.MIRRORMAKER1_TUNED;
        Map<String, Object> consumer =
                tuned ? tunedConsumer(job.source(), job.group()) : shippedConsumer(job.source(), job.group());
        consumer.put(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG, MirrorMakerRun.PollInterceptor.class.getName());
        Map<String, Object> producer = tuned ? tunedProducer(job.target()) : shippedProducer(job.target());
        producer.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, job.load().compression());
        producer.put(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, MirrorMakerRun.AckInterceptor.class.getName());
        List<String> args = List.of(
                Long.toString(job.load().records()),
                MAIN,
                "--consumer.config=" + jars.store("consumer.properties", consumer),
                "--producer.config=" + jars.store("producer.properties", producer),
                "--include=" + Demo.TOPIC,
                "--num.streams=" + job.threads());
        List<String> options = new ArrayList<>(tuned ? DemoProcess.ownOptions() : SHIPPED_OPTIONS);
        options.addAll(MavenJars.LOGGING);
        return DemoProcess.run(MirrorMaker.classPath(jars), options, MirrorMakerRun.class, args, listener);
    }

    private static Map<String, Object> tunedConsumer(String source, String group) {
        Map<String, Object> consumer = new HashMap<>(ClientConfigs.consumer(null, source, group));
        consumer.remove(CommonClientConfigs.CLIENT_ID_CONFIG); // MirrorMaker sets the ids of its consumers.
        consumer.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        return consumer;
    }

    private static Map<String, Object> tunedProducer(String target) {
        Map<String, Object> producer = new HashMap<>(ClientConfigs.producer(null, target));
        // The default of the client. MirrorMaker's own is 1, which would slow it down.
        producer.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5);
        return producer;
    }

    private static Map<String, Object> shippedConsumer(String source, String group) {
        return new HashMap<>(Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, source,
                ConsumerConfig.GROUP_ID_CONFIG, group,
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"));
    }

    private static Map<String, Object> shippedProducer(String target) {
        return new HashMap<>(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, target));
    }

    @Override
    public void close() {
        jars.close();
    }
}
