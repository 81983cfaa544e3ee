package dev.millrace.client.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.LeakOracle;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An {@code Error} in an I/O thread: the stock producer's records then have no outcome, ours all have one. */
class IoThreadErrorIT extends SingleBrokerFixture {
    private static final String FATAL = "fatal-topic";

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldFailEveryRecordAndRefuseMoreWhenAnIoThreadMeetsAnError(int ioThreads) throws Exception {
        // given a record in flight to a broker that does not answer
        String calm = topic("calm-" + ioThreads, ProducerKind.MILLRACE, 4);
        String fatal = topic(FATAL + "-" + ioThreads, ProducerKind.MILLRACE, 1);
        Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(),
                "millrace.io.threads",
                ioThreads,
                "metric.reporters",
                ErrorReporter.class.getName());
        LeakOracle leaks = LeakOracle.of(producer);
        sendFirst(producer, calm, 4);
        producer.partitionsFor(fatal);
        AtomicInteger callbacks = new AtomicInteger();
        cluster.pause(1);
        try {
            Future<RecordMetadata> inFlight = producer.send(record(calm), (m, e) -> callbacks.incrementAndGet());

            // when
            Future<RecordMetadata> struck = producer.send(record(fatal), (m, e) -> callbacks.incrementAndGet());

            // then
            for (Future<RecordMetadata> future : List.of(inFlight, struck)) {
                assertThatThrownBy(() -> future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .hasCauseInstanceOf(KafkaException.class)
                        .hasRootCauseInstanceOf(LinkageError.class);
            }
            assertThat(callbacks).hasValue(2);
            assertThatThrownBy(() -> producer.send(record(calm)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasRootCauseInstanceOf(LinkageError.class);
            producer.flush();
        } finally {
            cluster.resume(1);
            producer.close();
        }
        leaks.assertNothingLeftByForce();
    }

    /** Throws when an I/O thread tells it of the first metric of the fatal topic. */
    public static final class ErrorReporter implements MetricsReporter {
        @Override
        public void metricChange(KafkaMetric metric) {
            String topic = metric.metricName().tags().get("topic");
            if (topic != null && topic.startsWith(FATAL)) {
                throw new LinkageError("for the test");
            }
        }

        @Override
        public void init(List<KafkaMetric> metrics) {}

        @Override
        public void metricRemoval(KafkaMetric metric) {}

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }
}
