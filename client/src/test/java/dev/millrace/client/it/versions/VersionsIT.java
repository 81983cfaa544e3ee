package dev.millrace.client.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs with other versions of kafka-clients on their class path, instead of the one that Millrace is compiled with. */
@Tag("thorough")
class VersionsIT {
    private static final String NAME_START = "kafka-clients-";

    @AutoClose
    private static final KafkaCluster cluster =
            KafkaCluster.builder().listeners(Listener.SASL_SSL).start();

    @ParameterizedTest
    @MethodSource("versions")
    void shouldSendWhatThisVersionsConsumerReads(String version) throws Exception {
        // given its jar, and no other jar of Kafka
        JavaRuntime runtime = JavaRuntime.ofThisJvm()
                .withoutJars("kafka[-_].*")
                .withFirstOnClassPath(jars().resolve(NAME_START + version + ".jar"));
        for (String topic : VersionProgram.topics(version)) {
            // Its records are of 2023.
            cluster.createTopic(topic, VersionProgram.PARTITIONS, 1, Map.of("retention.ms", "-1"));
        }

        // when
        List<String> arguments = new ArrayList<>(List.of(cluster.bootstrapServers(), version));
        cluster.clientConfig(Listener.SASL_SSL).forEach((key, value) -> arguments.add(key + "=" + value));
        try (JavaProgram program = JavaProgram.start(
                runtime,
                List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"),
                VersionProgram.class,
                arguments.toArray(String[]::new))) {
            int exitCode = program.awaitEnd(Duration.ofMinutes(2));

            // then
            assertThat(exitCode).as(program.output()).isZero();
            System.out.println(program.output());
            assertThat(program.output()).contains("OK with kafka-clients " + version);
        }
    }

    /** Those that the build has put there. */
    static List<String> versions() throws Exception {
        try (Stream<Path> files = Files.list(jars())) {
            return files.map(file -> file.getFileName().toString())
                    .map(name -> name.substring(NAME_START.length(), name.length() - ".jar".length()))
                    .sorted()
                    .toList();
        }
    }

    /** The jar of the newest of them. */
    static Path newestJar() throws Exception {
        List<String> versions = versions();
        return jars().resolve(NAME_START + versions.get(versions.size() - 1) + ".jar");
    }

    private static Path jars() throws URISyntaxException {
        return Path.of(Objects.requireNonNull(VersionsIT.class.getResource("/kafka-clients"))
                .toURI());
    }
}
