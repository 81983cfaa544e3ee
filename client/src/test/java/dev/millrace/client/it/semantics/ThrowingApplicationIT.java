package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.support.LeakOracle;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.client.support.TopicContents;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
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
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        Producer<byte[], byte[]> producer = ProducerKind.MILLRACE.create(
                cluster.clientConfig(),
                "batch.size",
                500,
                "millrace.metadata.block",
                isMetadataBlocking,
                "interceptor.classes",
                Throwing.class.getName());
        LeakOracle leaks = LeakOracle.of(producer);

        // when
        for (int i = 0; i < RECORDS; i++) {
            futures.add(producer.send(new ProducerRecord<>(topic, i % 2, null, new byte[20]), (metadata, error) -> {
                told.incrementAndGet();
                throw new LinkageError("thrown by a callback on purpose");
            }));
        }
        producer.flush();

        // then
        assertThat(told).hasValue(RECORDS);
        assertThat(INTERCEPTED).hasValue(RECORDS);
        for (Future<RecordMetadata> future : futures) {
            assertThat(future.get().hasOffset()).isTrue();
        }
        producer.close();
        leaks.assertNothingLeft();
        assertThat(TopicContents.read(cluster.clientConfig(), topic)).hasSize(RECORDS);
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
