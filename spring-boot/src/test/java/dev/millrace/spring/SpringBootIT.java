package dev.millrace.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.ChildMaven;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
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
    private static final Path SAMPLE = Path.of("sample").toAbsolutePath();
    private static final Pattern MILLRACE_VERSION =
            Pattern.compile("<artifactId>millrace-spring-boot</artifactId>\\s*<version>(.+?)</version>");
    private static final Pattern SENT = Pattern.compile(" (\\d+) records sent, ");
    private static final Pattern SENT_AGAIN = Pattern.compile(", (\\d+) of them again");
    private static final Pattern KAFKA_CLIENTS = Pattern.compile("kafka-clients-([^/]+)\\.jar");
    private static final String MILLRACE_PRODUCER = "dev.millrace.client.MillraceProducer";
    private static final String STOCK_SENDER = "org.apache.kafka.clients.producer.internals.Sender";
    private static final String JAR_LAUNCHER = "org.springframework.boot.loader.launch.JarLauncher";
    private static final int ORDERS = 200;
    private static final int FAIL_AT_FIRST = ORDERS / 10;

    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    /** Not a {@code @TempDir}, which warns of each link to the user's local repository that it deletes. */
    @AutoClose
    private static final ChildFolder temporary = ChildFolder.create("millrace-sample-");

    private static final Map<SpringBoot, Path> jars = new HashMap<>();

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
                                "<groupId>org.springframework.kafka</groupId>$1<artifactId>spring-kafka<")));
    }

    @ParameterizedTest
    @MethodSource("versions")
    void shouldInvoiceEveryOrderOnceInOrderWhenSomeAreRolledBackAtFirst(SpringBoot boot) throws Exception {
        // given
        String invoices = "invoices-" + boot;
        Path classes = temporary.path().resolve("classes-" + boot);

        // when
        String output = run(boot, classes, "orders-" + boot, invoices, "--sample.orders.count=" + ORDERS);

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
        assertThat(loaded).anyMatch(loads(MILLRACE_PRODUCER)).noneMatch(loads(STOCK_SENDER));
        String producer = loaded.stream()
                .filter(loads("org.apache.kafka.clients.producer.Producer"))
                .findFirst()
                .orElseThrow();
        assertThat(find(KAFKA_CLIENTS, producer)).isEqualTo(boot.kafkaClients());
    }

    @ParameterizedTest
    @MethodSource("versions")
    void shouldMakeStockProducersWhenTurnedOff(SpringBoot boot) throws Exception {
        // given
        Path classes = temporary.path().resolve("classes-off-" + boot);

        // when it makes a producer, though it has no orders
        run(
                boot,
                classes,
                "no-orders-" + boot,
                "no-invoices-" + boot,
                "--sample.orders.count=0",
                "--millrace.enabled=false");

        // then
        assertThat(Files.readAllLines(classes))
                .noneMatch(loads(MILLRACE_PRODUCER))
                .anyMatch(loads(STOCK_SENDER));
    }

    /** Runs the sample to its end, and returns its output. */
    private static String run(
            SpringBoot boot, Path loadedClasses, String ordersTopic, String invoicesTopic, String... options)
            throws Exception {
        Path jar = jar(boot);
        JavaRuntime runtime = new JavaRuntime(JavaRuntime.ofThisJvm().home(), jar.toString());
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.add("--spring.kafka.bootstrap-servers=" + cluster.bootstrapServers());
        arguments.add("--sample.orders.topic=" + ordersTopic);
        arguments.add("--sample.invoices.topic=" + invoicesTopic);
        try (JavaProgram program = JavaProgram.start(
                runtime,
                List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Xlog:class+load:file=" + loadedClasses),
                JAR_LAUNCHER,
                arguments.toArray(String[]::new))) {
            int exitCode = program.awaitEnd(Duration.ofMinutes(2));
            assertThat(exitCode).as(program.output()).isZero();
            return program.output();
        }
    }

    /** The sample with this version, which is built once. */
    private static Path jar(SpringBoot boot) throws Exception {
        Path jar = jars.get(boot);
        if (jar == null) {
            Path project = copySample(boot);
            Path repository = Files.createDirectory(temporary.path().resolve("repository-" + boot));
            Map<String, Path> modules =
                    Map.of("millrace-client", Path.of("..", "client"), "millrace-spring-boot", Path.of(""));
            ChildMaven.withPackaged(repository, millraceVersion(project), modules)
                    .run(project, "package");
            jar = project.resolve("target/invoices.jar");
            jars.put(boot, jar);
        }
        return jar;
    }

    private static Path copySample(SpringBoot boot) throws IOException {
        Path copy = Files.createDirectory(temporary.path().resolve("sample-" + boot));
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

    private static Predicate<String> loads(String className) {
        return line -> line.contains(" " + className + " ");
    }

    private static List<String> values(List<ConsumerRecord<byte[], byte[]>> records) {
        return records.stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }
}
