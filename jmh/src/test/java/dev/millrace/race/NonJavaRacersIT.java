package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.testkit.stub.StubBroker;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Needs Go and librdkafka. A racer that cannot be built here is not tested. */
@Tag("thorough")
class NonJavaRacersIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @AutoClose
    private static final StubBroker stub = StubBroker.builder().topic("race", 3).start();

    @ParameterizedTest
    @CsvSource({
        "franz-go,partition,all,none",
        "franz-go,key,all,zstd",
        "franz-go,sticky,1,none",
        "librdkafka,partition,all,none",
        "librdkafka,key,all,lz4",
        "librdkafka,sticky,1,none"
    })
    void shouldMeasureSpeedAndTimesWhenAllRecordsArrive(String name, String path, String acks, String compression) {
        RacerArguments arguments = arguments()
                .set("partition_choice", path)
                .config("acks", acks)
                .config("enable.idempotence", acks.equals("all"))
                .config("compression.type", compression);

        RacerProgram.Ended ended = racer(name).run(arguments, PATIENCE);

        assertThat(ended.exitCode()).as(ended.output()).isZero();
        Map<RaceMetric, Double> metrics = RaceMetric.fromJson(ended.output());
        assertThat(metrics.keySet()).containsExactlyElementsOf(RacerTest.measured(RaceMetric.ACK_P99_MS));
        assertThat(metrics.values()).allMatch(value -> value > 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"franz-go", "librdkafka"})
    void shouldFailWhenRecordIsRefused(String name) {
        RacerProgram.Ended ended = racer(name).run(arguments().set("partitions", 4), PATIENCE);

        assertThat(ended.exitCode()).isEqualTo(1);
        assertThat(ended.output()).containsIgnoringCase("partition");
    }

    @ParameterizedTest
    @ValueSource(strings = {"franz-go", "librdkafka"})
    void shouldEndWhenItsParentEnds(String name) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(racer(name).program().toString()));
        command.addAll(List.of(arguments().set("warmup_ms", PATIENCE.toMillis()).commandLine()));
        Process process = new ProcessBuilder(command).start();

        process.getOutputStream().close();

        assertThat(process.waitFor()).isEqualTo(1);
    }

    @Test
    void shouldSkipProducerWhenItDoesNotSupportAnOption() {
        assertThat(errors(1, "--tls", "--producers", "franz-go"))
                .containsExactly(
                        "race: franz-go skipped: it does not race with --tls", "race: no producer is left to race");
    }

    @Test
    void shouldNameAllProducersWhenOneIsUnknown() {
        assertThat(errors(2, "--producers", "millrace,franz"))
                .singleElement()
                .asString()
                .startsWith("race: --producers franz: only millrace, ")
                .contains(", kafka-4.4.0, franz-go, librdkafka are possible");
    }

    private static List<String> errors(int exitCode, String... options) {
        StringWriter errors = new StringWriter();
        assertThat(RaceCommand.commandLine().setErr(new PrintWriter(errors)).execute(options))
                .isEqualTo(exitCode);
        return errors.toString().lines().toList();
    }

    private static NonJavaRacer racer(String name) {
        List<String> notices = new ArrayList<>();
        Optional<NonJavaRacer> racer =
                NonJavaRacer.build(name, RacerJvm.nonJavaSources(), RacerJvm.nonJavaPrograms(), notices::add);
        assumeTrue(racer.isPresent(), notices::toString);
        return racer.orElseThrow();
    }

    private static RacerArguments arguments() {
        return new RacerArguments("topic=race", "partitions=3", "partition_choice=partition", "step=1")
                .set("threads", 4)
                .set("records", 3001)
                .set("seconds", 0)
                .set("turns", 0)
                .set("size", 100)
                .set("warmup", 500)
                .set("warmup_ms", 0)
                .config("bootstrap.servers", stub.bootstrapServers())
                .config("linger.ms", 5)
                .config("batch.size", 65_536)
                .config("acks", "all")
                .config("enable.idempotence", true)
                .config("compression.type", "none");
    }
}
