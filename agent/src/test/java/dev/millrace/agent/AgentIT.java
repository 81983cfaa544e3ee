package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.CountingProgram;
import dev.millrace.agent.programs.LoadersProgram;
import dev.millrace.agent.programs.MetersProgram;
import dev.millrace.agent.programs.MockProgram;
import dev.millrace.agent.programs.PlainProgram;
import dev.millrace.agent.programs.RoundTrip;
import dev.millrace.agent.programs.SubclassProgram;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs whose producers are Millrace's because of the agent; each compares what it reads with what it sent. */
class AgentIT extends AgentFixture {
    private static final String ANNOUNCEMENT = "INFO  dev.millrace.agent - The KafkaProducers of kafka-clients ";

    @Test
    void shouldSendWithoutAChangeOfTheProgram() {
        String output = AgentRun.withAgent().run(PlainProgram.class.getName(), servers(), topic());

        assertThat(output)
                .contains("read 1200 as sent")
                .doesNotContain(STOCK)
                .containsOnlyOnce(ANNOUNCEMENT + AgentRun.KAFKA);
    }

    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(strings = {"3.9.1", "4.0.1", "4.1.1", "4.2.0", "newest"})
    void shouldSendWithEachKafkaClients(String version) {
        String kafka = version.equals("newest") ? AgentRun.NEWEST_KAFKA : version;

        for (Class<?> program : List.of(PlainProgram.class, SubclassProgram.class)) {
            String output = AgentRun.withAgent().kafka(kafka).run(program.getName(), servers(), topic());

            assertThat(output).contains("as sent", ANNOUNCEMENT + kafka).doesNotContain(STOCK);
        }
    }

    @Test
    void shouldCallTheMethodsOfSubclasses() {
        String output = AgentRun.withAgent().run(SubclassProgram.class.getName(), servers(), topic());

        assertThat(output).contains(MILLRACE, "read 300 as sent");
    }

    @Test
    void shouldMakeAndCloseTheObjectsOfTheProgramOnce() {
        String output = AgentRun.withAgent().run(CountingProgram.class.getName(), servers(), topic());

        assertThat(output).contains(MILLRACE);
    }

    @Test
    void shouldSendWhatKafkasOwnToolSends() {
        String topic = topic();
        String output = AgentRun.withAgent()
                .jars("kafka-tools-", "kafka-server-common-", "argparse4j-", "jopt-simple-", "jackson-")
                .run(
                        "org.apache.kafka.tools.ProducerPerformance",
                        "--topic=" + topic,
                        "--num-records=1000",
                        "--payload-monotonic",
                        "--throughput=-1",
                        "--producer-props",
                        "bootstrap.servers=" + servers());

        assertThat(output).contains("1000 records sent", ANNOUNCEMENT + AgentRun.KAFKA);
        assertThat(new RoundTrip(servers(), topic).read())
                .extracting(record -> Integer.parseInt(new String(record.value(), StandardCharsets.UTF_8)))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 1000).boxed().toList());
    }

    /** The program itself has no Kafka; its loaders have different versions of it, and nobody may keep them. */
    @Test
    void shouldServeLoadersWithTheirOwnKafkaClientsAndNotKeepThem() {
        List<String> versions = List.of(AgentRun.KAFKA, "3.9.1", AgentRun.NEWEST_KAFKA);
        String topic = "loaders";
        for (int i = 0; i < versions.size(); i++) {
            topic(topic + "-" + i);
        }

        String output = AgentRun.withAgent()
                .classPath(List.of(AgentRun.TESTS.toString()))
                .run(
                        LoadersProgram.class.getName(),
                        Stream.concat(
                                        Stream.of(servers(), topic),
                                        versions.stream().map(AgentRun::classPath))
                                .toArray(String[]::new));

        assertThat(output.split("read 1200 as sent", -1)).hasSize(1 + versions.size());
        assertThat(output).doesNotContain(STOCK).contains("all loaders are gone");
        for (String version : versions) {
            assertThat(output).containsOnlyOnce(ANNOUNCEMENT + version);
        }
    }

    @Tag("thorough")
    @Test
    void shouldSendIfTheAgentIsGivenTwice() {
        String output = AgentRun.withAgent()
                .option("-javaagent:" + AgentRun.AGENT)
                .run(PlainProgram.class.getName(), servers(), topic());

        assertThat(output).contains("read 1200 as sent").doesNotContain(STOCK);
    }

    @Tag("thorough")
    @Test
    void shouldLetMocksAndSpiesWork() {
        String output = AgentRun.withAgent()
                .jars("mockito-", "byte-buddy-", "objenesis-")
                .run(MockProgram.class.getName(), servers(), topic());

        assertThat(output).contains(MILLRACE, "read 300 as sent");
    }

    @Tag("thorough")
    @Test
    void shouldGiveMicrometerTheMetersOfTheStockProducer() {
        String millrace = meters(AgentRun.withAgent());
        String stock = meters(AgentRun.withoutAgent());

        assertThat(millrace).contains(MILLRACE);
        assertThat(stock).contains(STOCK);
        List<String> metersOfStock = meterLines(stock);
        assertThat(metersOfStock).hasSizeGreaterThan(50);
        assertThat(meterLines(millrace)).containsAll(metersOfStock);
    }

    private static String meters(AgentRun run) {
        return run.jars("micrometer-", "HdrHistogram").run(MetersProgram.class.getName(), servers(), topic());
    }

    private static List<String> meterLines(String output) {
        return output.lines().filter(line -> line.startsWith("meter ")).toList();
    }
}
