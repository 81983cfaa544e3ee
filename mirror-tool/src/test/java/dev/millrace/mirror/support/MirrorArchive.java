package dev.millrace.mirror.support;

import static dev.millrace.mirror.support.MirrorFixture.await;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.process.ClassArchive;
import dev.millrace.testkit.process.JavaRuntime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The class archive of {@code mirror run}, which the tests start more than a hundred times. */
final class MirrorArchive {
    private static final String TOPIC = "class-archive";
    private static final Duration STOP = Duration.ofMinutes(2); // it writes the archive

    private MirrorArchive() {}

    static ClassArchive get() {
        return ClassArchive.of("mirror", JavaRuntime.ofThisJvm(), entry -> true, MirrorArchive::runOnce);
    }

    private static void runOnce(JavaRuntime runtime, List<String> options) {
        try (KafkaCluster source = KafkaCluster.builder().start();
                KafkaCluster target = KafkaCluster.builder().start()) {
            source.createTopic(TOPIC, 1, 1, Map.of());
            try (KafkaProducer<byte[], byte[]> producer =
                    new KafkaProducer<>(source.clientConfig(), new ByteArraySerializer(), new ByteArraySerializer())) {
                MirrorFixture.get(producer.send(new ProducerRecord<>(TOPIC, new byte[100])));
            }
            try (MirrorProcess mirror = MirrorProcess.startWith(
                    runtime,
                    options,
                    "run",
                    "--source=" + source.bootstrapServers(),
                    "--target=" + target.bootstrapServers(),
                    "--topics=" + TOPIC)) {
                await("one record is mirrored", () -> MirrorFixture.mirrored(target, TOPIC) == 1, mirror);
                mirror.terminate().awaitExit(STOP);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
