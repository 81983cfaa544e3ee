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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a program is told about the {@code kafka-clients} on its class path. */
class KafkaVersionTest {
    @ParameterizedTest
    @ValueSource(strings = {"3.9.0", "3.9.1", "4.0.1", "4.4.0", "4.4.0-SNAPSHOT", "7.9.0-ccs", "8.0.0-ccs", "8.2.1-ce"})
    void shouldTakeWhatWasTested(String stated) {
        KafkaVersion version = KafkaVersion.parse(stated);

        assertThat(version.isTooOld()).isFalse();
        assertThat(version.isNewerThanTested()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.5.0", "4.10.0", "5.0.0", "9.1.0-ccs"})
    void shouldTakeNewerOnes(String stated) {
        KafkaVersion version = KafkaVersion.parse(stated);

        assertThat(version.isTooOld()).isFalse();
        assertThat(version.isNewerThanTested()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.9.0.1", "2.8.2", "3.8.1", "7.8.0-ccs"})
    void shouldRefuseOlderOnes(String stated) {
        assertThat(KafkaVersion.parse(stated).isTooOld()).isTrue();
    }

    @Test
    void shouldKnowNothingOfWhatIsNoVersion() {
        assertThat(KafkaVersion.parse("of an unknown version")).isNull();
    }

    /** Before any class that it lacks is looked for. */
    @Test
    void shouldNameBothVersionsWhenTheClassPathHasOneThatIsTooOld() throws Exception {
        // given the real jar in front of ours; the build puts it there
        Path jar = Path.of(
                KafkaVersionTest.class.getResource("/too-old/kafka-clients.jar").toURI());
        JavaRuntime runtime = JavaRuntime.ofThisJvm().withFirstOnClassPath(jar);

        // when
        try (JavaProgram program = JavaProgram.start(runtime, List.of("-Xmx64m"), Program.class)) {
            int exitCode = program.awaitEnd(Duration.ofSeconds(60));

            // then
            assertThat(program.output().lines())
                    .contains("kafka-clients 3.8.1 is on the class path; Millrace needs at least 3.9");
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
