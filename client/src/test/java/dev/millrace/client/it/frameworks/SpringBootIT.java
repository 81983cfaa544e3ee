package dev.millrace.client.it.frameworks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The sample application, built by its own pom and run as a jar, with the Spring Kafka and the kafka-clients that
 * Spring Boot manages.
 */
@Tag("thorough")
class SpringBootIT {
    private static final Path SAMPLE = Path.of("samples", "spring-boot").toAbsolutePath();
    private static final Pattern MILLRACE_VERSION =
            Pattern.compile("<artifactId>millrace-client</artifactId>\\s*<version>(.+?)</version>");
    private static final Pattern SENT = Pattern.compile(" (\\d+) records sent, ");
    private static final Pattern SENT_AGAIN = Pattern.compile(", (\\d+) of them again");
    private static final Pattern KAFKA_CLIENTS = Pattern.compile("kafka-clients-([^/]+)\\.jar");
    private static final String JAR_LAUNCHER = "org.springframework.boot.loader.launch.JarLauncher";
    private static final int ORDERS = 200;
    private static final int FAIL_AT_FIRST = ORDERS / 10;

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    /** Not a {@code @TempDir}, which warns of each link to the user's local repository that it deletes. */
    private final ChildFolder temporary = ChildFolder.create("millrace-sample-");

    private final Path folder = temporary.path();

    /**
     * A version to run the sample with.
     *
     * @param kafkaClients what it manages
     * @param replacements what the sample's files have, and what this version needs instead
     */
    private record SpringBoot(String version, String kafkaClients, Map<String, String> replacements) {
        @Override
        public String toString() {
            return version;
        }
    }

    static List<SpringBoot> versions() {
        return List.of(
                new SpringBoot("4.1.2", "4.2.2", Map.of()),
                new SpringBoot(
                        "3.5.16",
                        "3.9.2",
                        Map.of(
                                "<version>4.1.2</version>",
                                "<version>3.5.16</version>",
                                "<groupId>org.springframework.boot</groupId>(\\s*)<artifactId>spring-boot-starter-kafka<",
                                "<groupId>org.springframework.kafka</groupId>$1<artifactId>spring-kafka<",
                                "org.springframework.boot.kafka.autoconfigure",
                                "org.springframework.boot.autoconfigure.kafka")));
    }

    @AfterEach
    void removeFiles() {
        temporary.close();
    }

    @ParameterizedTest
    @MethodSource("versions")
    void shouldInvoiceEveryOrderOnceInOrderWhenSomeAreRolledBackAtFirst(SpringBoot boot) throws Exception {
        // given
        Path project = copySample(boot);
        Path repository = Files.createDirectory(folder.resolve("repository"));
        ChildMaven.withPackagedClient(repository, millraceVersion(project)).run(project, "package");
        String invoices = "invoices-" + boot;
        Path classes = folder.resolve("classes");

        // when
        String output = run(
                project.resolve("target/invoices.jar"),
                List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Xlog:class+load:file=" + classes),
                "--spring.kafka.bootstrap-servers=" + cluster.bootstrapServers(),
                "--sample.orders.topic=orders-" + boot,
                "--sample.invoices.topic=" + invoices,
                "--sample.orders.count=" + ORDERS);

        // then what is committed is complete, what was rolled back is written, and the meters counted both
        List<String> expected = IntStream.range(0, ORDERS)
                .mapToObj(i -> "invoice of order " + i)
                .toList();
        assertThat(values(TopicContents.readCommitted(cluster, invoices))).isEqualTo(expected);
        assertThat(values(TopicContents.read(cluster.clientConfig(), invoices)))
                .hasSize(ORDERS + FAIL_AT_FIRST)
                .containsAll(expected);
        assertThat(output).contains(ORDERS + " orders invoiced, ").contains("As if the accounts could not be reached");
        int sent = Integer.parseInt(find(SENT, output));
        int again = Integer.parseInt(find(SENT_AGAIN, output)); // A new topic may have no leader yet.
        assertThat(sent - again).isEqualTo(2 * ORDERS + FAIL_AT_FIRST);

        // and Millrace has sent it all
        List<String> loaded = Files.readAllLines(classes);
        assertThat(loaded).anyMatch(loads("dev.millrace.client.MillraceProducer"));
        assertThat(loaded).noneMatch(loads("org.apache.kafka.clients.producer.internals.Sender"));
        String producer = loaded.stream()
                .filter(loads("org.apache.kafka.clients.producer.Producer"))
                .findFirst()
                .orElseThrow();
        assertThat(find(KAFKA_CLIENTS, producer)).isEqualTo(boot.kafkaClients());
    }

    private Path copySample(SpringBoot boot) throws IOException {
        Path copy = Files.createDirectory(folder.resolve("sample"));
        StringBuilder all = new StringBuilder();
        for (String part : List.of("pom.xml", "src")) {
            try (Stream<Path> files = Files.walk(SAMPLE.resolve(part))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    String text = Files.readString(file);
                    all.append(text);
                    for (Map.Entry<String, String> replacement :
                            boot.replacements().entrySet()) {
                        text = text.replaceAll(replacement.getKey(), replacement.getValue());
                    }
                    Path target = copy.resolve(SAMPLE.relativize(file));
                    Files.createDirectories(target.getParent());
                    Files.writeString(target, text);
                }
            }
        }
        assertThat(boot.replacements().keySet())
                .allSatisfy(pattern -> assertThat(all).containsPattern(pattern));
        return copy;
    }

    private static String millraceVersion(Path project) throws IOException {
        return find(MILLRACE_VERSION, Files.readString(project.resolve("pom.xml")));
    }

    private static String find(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        assertThat(matcher.find()).as(pattern + " in " + text).isTrue();
        return matcher.group(1);
    }

    /** Runs it to its end, and returns its output. */
    private static String run(Path jar, List<String> options, String... arguments) {
        JavaRuntime runtime = new JavaRuntime(JavaRuntime.ofThisJvm().home(), jar.toString());
        try (JavaProgram program = JavaProgram.start(runtime, options, JAR_LAUNCHER, arguments)) {
            int exitCode = program.awaitEnd(Duration.ofMinutes(2));
            assertThat(exitCode).as(program.output()).isZero();
            return program.output();
        }
    }

    private static Predicate<String> loads(String className) {
        return line -> line.contains(" " + className + " ");
    }

    private static List<String> values(List<ConsumerRecord<byte[], byte[]>> records) {
        return records.stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }
}
