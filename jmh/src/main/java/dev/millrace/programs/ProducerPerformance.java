package dev.millrace.programs;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.process.JavaProgram;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Kafka's {@code kafka-producer-perf-test}, with one broker, one thread, and the default settings of a producer. */
final class ProducerPerformance implements MeasuredProgram {
    static final String NAME = "producer-performance";
    static final String OF_ONE_RECORD = "one-record";

    private static final String MAIN = "org.apache.kafka.tools.ProducerPerformance";
    private static final Duration LONGEST = Duration.ofMinutes(10);
    /** The last line has the figures of all records. */
    private static final Pattern RATE = Pattern.compile("([0-9.]+) records/sec");

    private final String name;
    private final int records;
    private final KafkaCluster cluster = KafkaCluster.builder().start();
    private final RunTopics topics = new RunTopics(cluster);
    private final MavenJars jars = new MavenJars("kafka-tools");
    private int runs;

    ProducerPerformance(String name, int records) {
        this.name = name;
        this.records = name.equals(OF_ONE_RECORD) ? 1 : records;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String unit() {
        return isMoreBetter() ? "records/s" : "ms from the start of the JVM to its end";
    }

    @Override
    public boolean isMoreBetter() {
        return name.equals(NAME);
    }

    @Override
    public double run(List<String> options) {
        String topic = name + "-" + runs++;
        topics.create(topic);
        long startNanos = System.nanoTime();
        try (JavaProgram program = MeasuredProgram.start(
                jars,
                List.of("-Xmx512m"),
                options,
                MAIN,
                "--topic=" + topic,
                "--num-records=" + records,
                "--record-size=100",
                "--throughput=-1",
                "--producer-props",
                "bootstrap.servers=" + cluster.bootstrapServers())) {
            int exitCode = program.awaitEnd(LONGEST);
            double millis = (System.nanoTime() - startNanos) / 1e6;
            List<MatchResult> rates = RATE.matcher(program.output()).results().toList();
            if (exitCode != 0 || rates.isEmpty()) {
                throw new IllegalStateException(MAIN + " failed:\n" + program.output());
            }
            return isMoreBetter()
                    ? Double.parseDouble(rates.get(rates.size() - 1).group(1))
                    : millis;
        } finally {
            topics.delete(topic);
        }
    }

    @Override
    public void close() {
        jars.close();
        cluster.close();
    }
}
