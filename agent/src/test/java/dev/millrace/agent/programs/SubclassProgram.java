package dev.millrace.agent.programs;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Has a subclass of {@code KafkaProducer} whose methods all calls must reach. */
public final class SubclassProgram {
    private SubclassProgram() {}

    /** Runs it with bootstrap servers and topic. */
    public static void main(String[] arguments) throws Exception {
        RoundTrip trip = new RoundTrip(arguments[0], arguments[1]);
        Counting producer = new Counting(trip.config());
        trip.send(producer);
        producer.close();
        RoundTrip.check(producer.sent.get() == RoundTrip.RECORDS, "the subclass was told of " + producer.sent);
        RoundTrip.check(producer.closed.get() == 1, "the subclass was closed " + producer.closed + " times");
        trip.compare();
    }

    private static final class Counting extends KafkaProducer<byte[], byte[]> {
        private final AtomicInteger sent = new AtomicInteger();
        private final AtomicInteger closed = new AtomicInteger();

        Counting(Map<String, Object> config) {
            super(config);
        }

        @Override
        public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            sent.incrementAndGet();
            return super.send(record, callback);
        }

        @Override
        public void close(Duration timeout) {
            closed.incrementAndGet();
            super.close(timeout);
        }
    }
}
