package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.JudgedSends;
import dev.millrace.client.support.LeakOracle;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Headers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The application's code throws Errors. The first of them ends the stock producer's I/O thread, and its {@code flush}
 * then waits forever; ours goes on.
 */
class ThrowingApplicationIT extends SingleBrokerFixture {
    private static final int RECORDS = 200;
    private static final AtomicInteger INTERCEPTED = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldWriteAndTellEveryRecordOnceWhenInterceptorsAndCallbacksThrowErrors(boolean isMetadataBlocking)
            throws Exception {
        // given
        INTERCEPTED.set(0);
        String topic = topic("throwing-application-" + isMetadataBlocking, ProducerKind.MILLRACE, 2);
        AtomicInteger told = new AtomicInteger();
        Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(),
                "batch.size",
                500,
                "millrace.metadata.block",
                isMetadataBlocking,
                "interceptor.classes",
                Throwing.class.getName());
        LeakOracle leaks = LeakOracle.of(producer);
        JudgedSends sends = new JudgedSends(producer, topic);

        // when
        for (int i = 0; i < RECORDS; i++) {
            sends.send(0, i % 2, null, 20, (metadata, error) -> {
                told.incrementAndGet();
                throw new LinkageError("thrown by a callback on purpose");
            });
        }
        producer.flush();

        // then
        assertThat(told).hasValue(RECORDS);
        assertThat(INTERCEPTED).hasValue(RECORDS);
        producer.close();
        leaks.assertNothingLeft();
        sends.assertAllThere(cluster.clientConfig());
    }

    /** Throws an {@code Error} at every outcome. */
    public static final class Throwing implements ProducerInterceptor<byte[], byte[]> {
        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error, Headers headers) {
            INTERCEPTED.incrementAndGet();
            throw new LinkageError("thrown by an interceptor on purpose");
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }
}
