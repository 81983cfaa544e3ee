package dev.millrace.client.metadata;

import dev.millrace.client.MillraceProducer;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Main class that makes a producer, sends a record and waits for its acknowledgement, then sends one to each topic. Its
 * output is the nanoseconds until the acknowledgement, and those until {@code send} has returned for each topic.
 *
 * <p>Arguments: {@code bootstrap.servers}, how many topics to send to, and {@code millrace.metadata.cache}, if it is to
 * be set.
 */
final class StartProgram {
    static final String TOPIC_PREFIX = "topic-";

    private StartProgram() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", arguments[0]);
        config.put("client.id", "start");
        config.put("buffer.memory", 256L << 20);
        if (arguments.length > 2) {
            config.put("millrace.metadata.cache", arguments[2]);
        }
        int topics = Integer.parseInt(arguments[1]);
        ByteArraySerializer serializer = new ByteArraySerializer();
        long startedNs = System.nanoTime();
        try (Producer<byte[], byte[]> producer = new MillraceProducer<>(config, serializer, serializer)) {
            producer.send(record(0)).get();
            long acknowledgedNs = System.nanoTime();
            for (int i = 0; i < topics; i++) {
                producer.send(record(i));
            }
            long sentNs = System.nanoTime();
            System.out.println((acknowledgedNs - startedNs) + " " + (sentNs - acknowledgedNs));
        }
    }

    private static ProducerRecord<byte[], byte[]> record(int topic) {
        return new ProducerRecord<>(TOPIC_PREFIX + topic, new byte[10]);
    }
}
