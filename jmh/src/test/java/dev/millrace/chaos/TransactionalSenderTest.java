package dev.millrace.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.oracle.TransactionLedger;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TransactionalSenderTest {
    private final TransactionLedger ledger = new TransactionLedger(1);
    private final AtomicInteger producers = new AtomicInteger();
    private TransactionalSender sender;

    static Stream<Arguments> refusals() {
        return Stream.of(
                Arguments.of(new ProducerFencedException("planted"), 1),
                Arguments.of(new InvalidProducerEpochException("planted"), 1),
                Arguments.of(new TimeoutException("planted"), 0),
                Arguments.of(new AuthorizationException("planted"), 0),
                Arguments.of(new KafkaException("planted"), 0));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void shouldCountAProducerAsFencedOnlyWhenItIsToldSo(KafkaException refusal, int fenced) {
        List<ChaosTopic> topics = List.of(new ChaosTopic("t", ChaosTopic.Kind.KEPT, 1));
        sender = new TransactionalSender(
                "id", 1, () -> createProducer(refusal), ledger, new TransactionalSender.Target(topics, null, 1));

        sender.run();

        assertThat(sender.failure()).isEmpty();
        assertThat(sender.fenced()).isEqualTo(fenced);
    }

    /** The second one is the one that fences the first, after which the sender ends. */
    private Producer<byte[], byte[]> createProducer(KafkaException refusal) {
        MockProducer<byte[], byte[]> producer =
                new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer());
        producer.commitTransactionException = refusal;
        if (producers.incrementAndGet() == 2) {
            sender.stop();
        }
        return producer;
    }
}
