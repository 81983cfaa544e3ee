package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.stub.StubBroker;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RacerTest {
    private static final String STOCK = "org.apache.kafka.clients.producer.KafkaProducer";
    private static final String MILLRACE = "dev.millrace.client.MillraceProducer";

    @AutoClose
    private static final StubBroker stub = StubBroker.builder().topic("race", 3).start();

    @ParameterizedTest
    @CsvSource({
        STOCK + ",partition,0,false",
        MILLRACE + ",partition,0,true",
        MILLRACE + ",key,0,false",
        STOCK + ",sticky,0,true",
        STOCK + ",partition,10000,false",
        MILLRACE + ",partition,10000,false"
    })
    void shouldMeasureEveryMetricWhenAllRecordsArrive(String producer, String path, long rate, boolean callbacks)
            throws Exception {
        Map<RaceMetric, Double> metrics = Racer.run(
                arguments(producer)
                        .set("partition_choice", path)
                        .set("rate", rate)
                        .set("callbacks", callbacks),
                MeasurementListener.NONE);

        assertThat(metrics.keySet()).containsExactlyElementsOf(measured(RaceMetric.COMPILER_MS));
        assertThat(metrics.get(RaceMetric.RECORDS_PER_S)).isPositive();
        assertThat(metrics.get(RaceMetric.SEND_MAX_US)).isPositive();
        assertThat(metrics.get(RaceMetric.ACK_P50_MS)).isPositive();
    }

    @Test
    void shouldFailWhenSendIsRefused() {
        RacerArguments arguments = arguments(MILLRACE).config("max.request.size", 50);

        assertThatThrownBy(() -> Racer.run(arguments, MeasurementListener.NONE))
                .hasStackTraceContaining(RecordTooLargeException.class.getName());
    }

    @Test
    void shouldEndAfterSecondsWhateverTheProducersSpeed() throws Exception {
        Map<RaceMetric, Double> metrics =
                Racer.run(arguments(MILLRACE).set("records", 1).set("seconds", 1), MeasurementListener.NONE);

        assertThat(metrics.get(RaceMetric.RECORDS_PER_S)).isGreaterThan(1);
    }

    @Test
    void shouldMeasureTheLoadWithoutABroker() throws Exception {
        RacerArguments arguments = arguments(RacerJvm.LOAD.producerClass())
                .set("callbacks", true)
                .set("new_callbacks", true)
                .set("check_arrivals", false)
                .set("rate", 5_000);

        Map<RaceMetric, Double> metrics = Racer.run(arguments, MeasurementListener.NONE);

        assertThat(metrics.get(RaceMetric.CPU_NS_PER_RECORD)).isPositive();
    }

    /** All metrics that one run measures, up to this one. */
    static Set<RaceMetric> measured(RaceMetric last) {
        Set<RaceMetric> metrics = EnumSet.range(RaceMetric.RECORDS_PER_S, last);
        metrics.removeAll(EnumSet.of(RaceMetric.LOAD_CPU_NS_PER_RECORD, RaceMetric.OWN_CPU_NS_PER_RECORD));
        return metrics;
    }

    private static RacerArguments arguments(String producer) {
        return new RacerArguments(
                        "class=" + producer,
                        "topic=race",
                        "partitions=3",
                        "partition_choice=partition",
                        "step=1",
                        "callbacks=false",
                        "new_callbacks=false",
                        "check_arrivals=true",
                        "seconds=0",
                        "turns=0",
                        "pause_file=")
                .set("threads", 4)
                .set("records", 3001)
                .set("size", 100)
                .set("warmup", 500)
                .set("warmup_ms", 0)
                .set("rate", 0)
                .config("bootstrap.servers", stub.bootstrapServers());
    }
}
