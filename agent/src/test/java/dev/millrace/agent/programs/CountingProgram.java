package dev.millrace.agent.programs;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Counts how often its own objects are made, configured and closed. */
public final class CountingProgram {
    private static final AtomicInteger MADE = new AtomicInteger();
    private static final AtomicInteger CONFIGURED = new AtomicInteger();
    private static final AtomicInteger CLOSED = new AtomicInteger();

    private CountingProgram() {}

    /**
     * Runs it.
     *
     * @param arguments bootstrap servers, topic, and settings of the producer
     */
    public static void main(String[] arguments) throws Exception {
        RoundTrip trip = new RoundTrip(arguments[0], arguments[1]);
        Map<String, Object> config = new HashMap<>(trip.config(Arrays.copyOfRange(arguments, 2, arguments.length)));
        config.put("interceptor.classes", CountedInterceptor.class.getName());
        config.put("partitioner.class", CountedPartitioner.class.getName());
        CountedSerializer keys = new CountedSerializer();
        CountedSerializer values = new CountedSerializer();

        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config, keys, values);
        trip.send(producer);
        check(4, 2, 0);
        producer.close();
        check(4, 2, 4);
        trip.compare();
    }

    private static void check(int made, int configured, int closed) {
        RoundTrip.check(
                MADE.get() == made && CONFIGURED.get() == configured && CLOSED.get() == closed,
                "made " + MADE + ", configured " + CONFIGURED + ", closed " + CLOSED);
    }

    private static final class CountedSerializer extends ByteArraySerializer {
        CountedSerializer() {
            MADE.incrementAndGet();
        }

        @Override
        public void configure(Map<String, ?> configs, boolean isKey) {
            CONFIGURED.incrementAndGet();
        }

        @Override
        public void close() {
            CLOSED.incrementAndGet();
        }
    }

    /** The configuration names it, so a producer makes it. */
    public static final class CountedInterceptor implements ProducerInterceptor<byte[], byte[]> {
        public CountedInterceptor() {
            MADE.incrementAndGet();
        }

        @Override
        public void configure(Map<String, ?> configs) {
            CONFIGURED.incrementAndGet();
        }

        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception exception) {}

        @Override
        public void close() {
            CLOSED.incrementAndGet();
        }
    }

    /** The configuration names it, so a producer makes it. */
    public static final class CountedPartitioner implements Partitioner {
        public CountedPartitioner() {
            MADE.incrementAndGet();
        }

        @Override
        public void configure(Map<String, ?> configs) {
            CONFIGURED.incrementAndGet();
        }

        @Override
        public int partition(
                String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes, Cluster cluster) {
            return 0;
        }

        @Override
        public void close() {
            CLOSED.incrementAndGet();
        }
    }
}
