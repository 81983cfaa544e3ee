package dev.millrace.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The stock clients, as the tests use them. */
public final class Clients {
    private Clients() {}

    public static Producer<String, String> producer(Map<String, Object> config) {
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    public static Producer<byte[], byte[]> bytesProducer(Map<String, Object> config) {
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Sends one record to partition 0 and waits for its acknowledgement. */
    public static void produce(Map<String, Object> config, String topic, String value) throws Exception {
        try (Producer<String, String> producer = producer(config)) {
            producer.send(new ProducerRecord<>(topic, 0, null, value)).get();
        }
    }

    /** Reads so many values from the beginning of partition 0. */
    public static List<String> consume(Map<String, Object> config, String topic, int count) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            List<String> values = new ArrayList<>();
            Await.until(count + " records arrive", Duration.ofSeconds(30), () -> {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> values.add(record.value()));
                return values.size() >= count;
            });
            return values;
        }
    }

    /** A record as a consumer would get it. */
    public static ConsumerRecord<byte[], byte[]> read(String topic, int partition, byte[] value) {
        return new ConsumerRecord<>(topic, partition, 0, new byte[0], value);
    }
}
