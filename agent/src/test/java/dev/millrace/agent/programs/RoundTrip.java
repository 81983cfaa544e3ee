package dev.millrace.agent.programs;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends numbered records, reads the topic back with the consumer of the same kafka-clients, and compares each. */
public final class RoundTrip {
    /** How many records {@link #send} sends. */
    public static final int RECORDS = 300;

    private static final int PARTITIONS = 3;
    private static final long FIRST_TIMESTAMP = 1_700_000_000_000L;

    private final String bootstrapServers;
    private final String topic;
    private final List<ProducerRecord<byte[], byte[]>> sent = new ArrayList<>();
    private final List<Future<RecordMetadata>> told = new ArrayList<>();

    public RoundTrip(String bootstrapServers, String topic) {
        this.bootstrapServers = bootstrapServers;
        this.topic = topic;
    }

    /** What every client needs, with these more settings, as {@code key=value}. */
    public Map<String, Object> config(String... settings) {
        Map<String, Object> config = new HashMap<>(Map.of(
                "bootstrap.servers",
                bootstrapServers,
                "key.serializer",
                ByteArraySerializer.class.getName(),
                "value.serializer",
                ByteArraySerializer.class.getName()));
        for (String setting : settings) {
            int end = setting.indexOf('=');
            config.put(setting.substring(0, end), setting.substring(end + 1));
        }
        return config;
    }

    /** Sends records, half of them with a callback, waits for each, and prints who has done the work. */
    public void send(Producer<byte[], byte[]> producer) throws Exception {
        for (int i = 0; i < RECORDS; i++) {
            sendOne(producer);
        }
        for (Future<RecordMetadata> future : told) {
            future.get();
        }
        System.out.println("sent by " + worker(producer));
    }

    void sendOne(Producer<byte[], byte[]> producer) {
        int number = sent.size();
        byte[] value = new byte[number % 500];
        Arrays.fill(value, (byte) number);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic,
                number % PARTITIONS,
                FIRST_TIMESTAMP + number,
                ("key-" + number).getBytes(StandardCharsets.UTF_8),
                value);
        record.headers().add("number", new byte[] {(byte) number});
        sent.add(record);
        told.add(number % 2 == 0 ? producer.send(record) : producer.send(record, (metadata, exception) -> {}));
    }

    /** Whether Millrace or the stock producer works for this one: only Millrace has metrics of its own. */
    public static String worker(Producer<?, ?> producer) {
        return producer.metrics().keySet().stream()
                        .anyMatch(name -> name.group().equals("millrace-metrics"))
                ? "Millrace"
                : "stock";
    }

    /** Throws unless the topic holds exactly what was sent, where the futures have said; prints how many records. */
    public void compare() throws Exception {
        List<ConsumerRecord<byte[], byte[]>> read = read();
        check(read.size() == sent.size(), "read " + read.size() + " of " + sent.size());
        Map<String, ConsumerRecord<byte[], byte[]>> byPlace = new HashMap<>();
        read.forEach(record -> byPlace.put(record.partition() + "@" + record.offset(), record));
        for (int i = 0; i < sent.size(); i++) {
            RecordMetadata metadata = told.get(i).get();
            ProducerRecord<byte[], byte[]> expected = sent.get(i);
            ConsumerRecord<byte[], byte[]> found = byPlace.get(metadata.partition() + "@" + metadata.offset());
            check(found != null && expected.partition() == found.partition(), "record " + i + " is not at " + metadata);
            check(
                    Arrays.equals(expected.key(), found.key())
                            && Arrays.equals(expected.value(), found.value())
                            && expected.timestamp() == found.timestamp()
                            && found.headers().lastHeader("number").value()[0] == (byte) i,
                    "record " + i + " is " + found);
        }
        System.out.println("read " + read.size() + " as sent");
    }

    /** All committed records of the topic. */
    public List<ConsumerRecord<byte[], byte[]>> read() {
        Map<String, Object> config =
                Map.of("bootstrap.servers", bootstrapServers, "isolation.level", "read_committed", "client.id", topic);
        List<ConsumerRecord<byte[], byte[]>> read = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            consumer.partitionsFor(topic).forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
                consumer.poll(Duration.ofSeconds(1)).forEach(read::add);
            }
        }
        return read;
    }

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
