package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.stub.StubBroker;
import java.util.EnumSet;
import java.util.Map;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RacerTest {
    private static final String STOCK = "org.apache.kafka.clients.producer.KafkaProducer";
    private static final String MILLRACE = "dev.millrace.client.MillraceProducer";
    private static StubBroker stub;

    @BeforeAll
    static void start() {
        stub = StubBroker.builder().topic("race", 3).start();
    }

    @AfterAll
    static void close() {
        stub.close();
    }

    @ParameterizedTest
    @CsvSource({
        STOCK + ",partition,0,false",
        MILLRACE + ",partition,0,true",
        MILLRACE + ",key,0,false",
        STOCK + ",sticky,0,true",
        STOCK + ",partition,10000,false",
        MILLRACE + ",partition,10000,false"
    })
    void shouldMeasureEveryFigureWhenAllRecordsArrive(String producer, String path, long rate, boolean callbacks)
            throws Exception {
        Map<Figure, Double> figures = Racer.run(
                arguments(producer).set("path", path).set("rate", rate).set("callbacks", callbacks), Span.UNWATCHED);

        assertThat(figures.keySet()).containsExactlyElementsOf(EnumSet.range(Figure.RECORDS_PER_S, Figure.GC_COUNT));
        assertThat(figures.get(Figure.RECORDS_PER_S)).isPositive();
        assertThat(figures.get(Figure.SEND_MAX_US)).isPositive();
        assertThat(figures.get(Figure.ACK_P50_MS)).isPositive();
    }

    @Test
    void shouldFailWhenSendIsRefused() {
        RacerArguments arguments = arguments(MILLRACE).config("max.request.size", 50);

        assertThatThrownBy(() -> Racer.run(arguments, Span.UNWATCHED))
                .hasStackTraceContaining(RecordTooLargeException.class.getName());
    }

    private static RacerArguments arguments(String producer) {
        return new RacerArguments(
                        "class=" + producer,
                        "topic=race",
                        "partitions=3",
                        "path=partition",
                        "step=1",
                        "callbacks=false",
                        "gate=")
                .set("threads", 4)
                .set("records", 3001)
                .set("size", 100)
                .set("warmup", 500)
                .set("warmup_ms", 0)
                .set("rate", 0)
                .config("bootstrap.servers", stub.bootstrapServers());
    }
}
