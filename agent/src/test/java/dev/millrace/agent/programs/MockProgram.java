package dev.millrace.agent.programs;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Mocks {@code KafkaProducer} and spies on one that sends. */
public final class MockProgram {
    private MockProgram() {}

    /** Runs it with bootstrap servers and topic. */
    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) throws Exception {
        RoundTrip trip = new RoundTrip(arguments[0], arguments[1]);
        Future<RecordMetadata> answer = new CompletableFuture<>();
        KafkaProducer<byte[], byte[]> mock = mock(KafkaProducer.class);
        when(mock.send(any())).thenReturn(answer);
        checkAnswers(mock, new ProducerRecord<>(arguments[1], new byte[1]), answer);

        try (KafkaProducer<byte[], byte[]> spy = spy(new KafkaProducer<byte[], byte[]>(trip.config()))) {
            trip.send(spy);
            verify(spy, times(RoundTrip.RECORDS)).send(any(), any()); // with those that send(record) calls
        }
        trip.compare();
    }

    private static void checkAnswers(
            Producer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record, Future<RecordMetadata> answer) {
        RoundTrip.check(producer.send(record) == answer, "the mock did not answer as it was told");
        RoundTrip.check(producer.metrics().isEmpty(), "the mock has metrics");
    }
}
