package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * {@code close} under a quota of 1,000 bytes per second. A broker answers the request that exceeds the quota at once, and
 * then takes nothing from the connection for as long as the excess is worth: that is what {@code close} waits for.
 */
class QuotaIT extends SingleBrokerFixture {
    private static final double BYTES_PER_SECOND = 1_000;

    @BeforeAll
    static void limit() throws Exception {
        ClientQuotaEntity everyClient =
                new ClientQuotaEntity(Collections.singletonMap(ClientQuotaEntity.CLIENT_ID, null));
        cluster.admin()
                .alterClientQuotas(List.of(new ClientQuotaAlteration(
                        everyClient, List.of(new ClientQuotaAlteration.Op("producer_byte_rate", BYTES_PER_SECOND)))))
                .all()
                .get();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNotWaitForTheQuotaInCloseWhenEveryRecordHasItsAnswer(ProducerKind kind) throws Exception {
        // given an excess that is worth minutes
        String topic = topic("all-answered", kind, 1);
        Producer<byte[], byte[]> producer = create(kind, topic);
        producer.send(record(topic, 500_000)).get();
        assertThat(throttledMs(producer)).isGreaterThan(2.0 * PATIENCE.toMillis());

        // when
        long startNs = System.nanoTime();
        producer.close();

        // then
        assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(PATIENCE);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldWaitForTheQuotaInCloseUntilItsTimeRunsOut(ProducerKind kind) throws Exception {
        // given
        String topic = topic("held-back", kind, 1);
        Producer<byte[], byte[]> producer = create(kind, topic);
        producer.send(record(topic, 500_000)).get();
        Future<RecordMetadata> heldBack = producer.send(record(topic));

        // when
        producer.close(Duration.ofSeconds(1));

        // then
        assertThatThrownBy(() -> heldBack.get(0, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(KafkaException.class)
                .hasMessageContaining("closed forcefully");
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendInCloseWhatTheQuotaHoldsBack(ProducerKind kind) throws Exception {
        // given an excess that is worth some seconds
        String topic = topic("sent-late", kind, 1);
        Producer<byte[], byte[]> producer = create(kind, topic);
        producer.send(record(topic, 13_000)).get();
        assertThat(throttledMs(producer)).isPositive();
        Future<RecordMetadata> heldBack = producer.send(record(topic));

        // when
        producer.close();

        // then
        assertThat(heldBack.get(0, TimeUnit.SECONDS).hasOffset()).isTrue();
    }

    /** Each client id has a quota of its own. */
    private static Producer<byte[], byte[]> create(ProducerKind kind, String topic) {
        return kind.create(cluster.clientConfig(), "client.id", topic);
    }

    private static double throttledMs(Producer<?, ?> producer) {
        return metric(producer, "produce-throttle-time-max");
    }
}
