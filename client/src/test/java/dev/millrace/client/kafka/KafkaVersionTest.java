package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceProducer;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another {@code kafka-clients} is told as such, before any class that it lacks is looked for. */
class KafkaVersionTest {
    @ParameterizedTest
    @ValueSource(strings = {"3.9.1", "4.4.0"})
    void shouldNameTheVersionsThatWorkWhenTheClassPathHasAnother(String version) throws Exception {
        // given the real jar in front of ours; the build puts it there
        Path jar = Path.of(KafkaVersionTest.class
                .getResource("/unsupported/kafka-clients-" + version + ".jar")
                .toURI());
        JavaRuntime runtime = JavaRuntime.ofThisJvm().withFirstOnClassPath(jar);

        // when
        try (JavaProgram program = JavaProgram.start(runtime, List.of("-Xmx64m"), Program.class)) {
            int exitCode = program.awaitEnd(Duration.ofSeconds(60));

            // then
            assertThat(program.output().lines())
                    .contains("kafka-clients " + version
                            + " is on the class path; this version of Millrace works with 4.3.1");
            assertThat(exitCode).isZero();
        }
    }

    /** What a user does who has not read which version is needed. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            Properties properties = new Properties();
            properties.put("bootstrap.servers", "127.0.0.1:1");
            properties.put("key.serializer", StringSerializer.class.getName());
            properties.put("value.serializer", StringSerializer.class.getName());
            try (MillraceProducer<String, String> producer = new MillraceProducer<>(properties)) {
                System.out.println("It starts, with " + producer.metrics().size() + " metrics");
            } catch (KafkaException refused) {
                System.out.println(refused.getMessage());
            }
        }
    }
}
