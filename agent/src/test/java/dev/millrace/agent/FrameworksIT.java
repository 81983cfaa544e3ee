package dev.millrace.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.RoundTrip;
import dev.millrace.agent.programs.StreamsProgram;
import dev.millrace.testkit.process.ChildMaven;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Applications that leave it to a framework to construct their producers. */
@Tag("thorough")
class FrameworksIT extends AgentFixture {
    private static final String STAYED_STOCK = "is the stock producer";

    /** The sample of {@code spring-boot}, built without Millrace; it rolls every tenth invoice back at first. */
    @Test
    void shouldSendForAnExecutableJarOfSpringBoot() throws Exception {
        int orders = 100;
        ChildMaven.plain().run(Path.of("src/test/spring-boot"), "package");

        String output = AgentRun.withAgent()
                .run(
                        "-jar", // in the place of a class, as users start it
                        "target/spring-boot/invoices.jar",
                        "--spring.kafka.bootstrap-servers=" + servers(),
                        "--sample.orders.count=" + orders,
                        "--logging.level.dev.millrace.agent=info");

        assertThat(output)
                .containsPattern("The KafkaProducers of kafka-clients .+!BOOT-INF/lib/.+ are Millrace ")
                .doesNotContain(STAYED_STOCK);
        assertThat(values("orders")).isEqualTo(numbered("order ", orders));
        assertThat(values("invoices")).isEqualTo(numbered("invoice of order ", orders));
    }

    /** Quarkus' own loader defines the classes; SmallRye's emitters construct the producers, one with transactions. */
    @Tag("long")
    @Test
    void shouldSendForAnApplicationOfQuarkus() throws Exception {
        int count = 2_000;
        int reports = 100; // every tenth is aborted, and sent again
        topic("readings");
        topic("reports");
        ChildMaven.plain().run(Path.of("src/test/quarkus"), "package");

        String output = AgentRun.withAgent()
                .option("-Dkafka.bootstrap.servers=" + servers())
                .option("-Dreadings.count=" + count)
                .run("-jar", "target/quarkus/quarkus-app/quarkus-run.jar");

        assertThat(output)
                .containsPattern("The KafkaProducers of kafka-clients .+/quarkus-app/lib/main/.+ are Millrace ")
                .doesNotContain(STAYED_STOCK);
        assertThat(output.split("Aborting transaction ", -1)).hasSize(1 + reports / 10);
        assertThat(valuesByKey("readings"))
                .isEqualTo(IntStream.range(0, count)
                        .boxed()
                        .collect(groupingBy(i -> "meter-" + i % 10, mapping(i -> "reading " + i, toList()))));
        assertThat(valuesByKey("reports"))
                .containsOnlyKeys(numbered("report ", reports))
                .allSatisfy((report, lines) -> assertThat(lines).isEqualTo(numbered("line ", 5)));
    }

    /** Streams also sends what it groups anew, and the changes of its store. */
    @Test
    void shouldSendEachCountOnceForKafkaStreams() throws Exception {
        int countsOfDigit = RoundTrip.RECORDS; // because ten sends number their keys through
        String from = topic();
        String to = topic();
        RoundTrip source = new RoundTrip(servers(), from);
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(source.config())) {
            for (int i = 0; i < 10; i++) {
                source.send(producer);
            }
        }

        String output = AgentRun.withAgent()
                .jars("kafka-streams-", "rocksdbjni-", "jackson-")
                .run(StreamsProgram.class.getName(), servers(), from, to, Integer.toString(10 * countsOfDigit));

        assertThat(output)
                .contains("The KafkaProducers of kafka-clients " + AgentRun.KAFKA)
                .doesNotContain(STAYED_STOCK);
        Map<String, List<Long>> counts = new RoundTrip(servers(), to)
                .read().stream()
                        .collect(groupingBy(
                                record -> new String(record.key(), UTF_8),
                                mapping(
                                        record ->
                                                ByteBuffer.wrap(record.value()).getLong(),
                                        toList())));
        assertThat(counts)
                .containsOnlyKeys(numbered("", 10))
                .allSatisfy((digit, each) -> assertThat(each)
                        .isEqualTo(
                                LongStream.rangeClosed(1, countsOfDigit).boxed().toList()));
    }

    private static List<String> values(String topic) {
        return new RoundTrip(servers(), topic)
                .read().stream()
                        .map(record -> new String(record.value(), UTF_8))
                        .toList();
    }

    private static Map<String, List<String>> valuesByKey(String topic) {
        return new RoundTrip(servers(), topic)
                .read().stream()
                        .collect(groupingBy(
                                record -> new String(record.key(), UTF_8),
                                mapping(record -> new String(record.value(), UTF_8), toList())));
    }

    private static List<String> numbered(String text, int count) {
        return IntStream.range(0, count).mapToObj(i -> text + i).toList();
    }
}
