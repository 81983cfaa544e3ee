package dev.millrace.programs;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.mirrormaker.MirrorMaker2Config;
import dev.millrace.testkit.process.JavaProgram;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * MirrorMaker 2 in its own process, between two brokers, with its default settings. In each run it copies all of a topic to a
 * new one; measured is from the first copied record on, because the start of Kafka Connect takes longer than some copies.
 */
final class MirrorMaker2 implements MeasuredProgram {
    static final String NAME = "mirror-maker-2";

    private static final String MAIN = "org.apache.kafka.connect.mirror.MirrorMaker";
    private static final String TOPIC = "copied";
    private static final int RECORD_BYTES = 100;
    private static final Duration LONGEST = Duration.ofMinutes(10);

    private final int records;
    private final KafkaCluster source = KafkaCluster.builder().start();
    private final KafkaCluster target = KafkaCluster.builder().start();
    private final RunTopics copies = new RunTopics(target);
    private final MavenJars jars = new MavenJars("mirrormaker2");
    private int runs;

    MirrorMaker2(int records) {
        this.records = records;
        new RunTopics(source).create(TOPIC);
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(source.clientConfig(), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < records; i++) {
                var unused = producer.send(
                        new ProducerRecord<>(TOPIC, i % RunTopics.PARTITIONS, null, new byte[RECORD_BYTES]));
            }
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String unit() {
        return "records/s";
    }

    @Override
    public boolean isMoreBetter() {
        return true;
    }

    @Override
    public double run(List<String> options) {
        String alias = "run" + runs++; // each run copies to a topic of another name
        String copy = alias + "." + TOPIC;
        copies.create(copy);
        Map<String, Object> config = MirrorMaker2Config.betweenSingleBrokers(
                alias, source.bootstrapServers(), "target", target.bootstrapServers(), TOPIC);
        String file = jars.store(alias + ".properties", config).toString();
        try (JavaProgram program = MeasuredProgram.start(jars, List.of("-Xms256m", "-Xmx2g"), options, MAIN, file)) {
            long before = await(program, copy, 1);
            long startNanos = System.nanoTime();
            long after = await(program, copy, records);
            return (after - before) * 1e9 / (System.nanoTime() - startNanos);
        } finally {
            copies.delete(copy);
        }
    }

    /** Blocks until the copy has so many records, and returns how many it has then. */
    private long await(JavaProgram program, String copy, long wanted) {
        Await.until("MirrorMaker 2 has copied " + wanted, LONGEST, () -> {
            if (!program.isAlive()) {
                throw new IllegalStateException(MAIN + " has ended:\n" + program.output());
            }
            return copies.end(copy) >= wanted;
        });
        return copies.end(copy);
    }

    @Override
    public void close() {
        jars.close();
        source.close();
        target.close();
    }
}
