package dev.millrace.race;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Counts the records that have arrived, from what the brokers say, not the producer: it sends one more record to each
 * partition, whose offset is the number of records before it. Correct only while no other process writes to the topic.
 */
final class ArrivalCounter {
    private final Producer<byte[], byte[]> producer;
    private final String topic;
    private final int partitions;
    private long own;

    ArrivalCounter(Producer<byte[], byte[]> producer, String topic, int partitions) {
        this.producer = producer;
        this.topic = topic;
        this.partitions = partitions;
    }

    /**
     * Sends a record to each partition and returns how many records had arrived before, without those of earlier calls.
     * Blocks until the brokers have acknowledged all.
     */
    long count() throws Exception {
        List<Future<RecordMetadata>> probes = new ArrayList<>();
        for (int partition = 0; partition < partitions; partition++) {
            probes.add(producer.send(new ProducerRecord<>(topic, partition, null, new byte[0])));
        }
        long all = 0;
        for (Future<RecordMetadata> probe : probes) {
            all += probe.get().offset();
        }
        long others = all - own;
        own += partitions;
        return others;
    }
}
