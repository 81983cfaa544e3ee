package dev.millrace.race;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Counts the records that have arrived at the brokers, by what they say, not the producer: it sends one record more to
 * each partition, whose offset is how many came before. Correct while nobody else writes to the topic.
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

    /** How many records of others have arrived so far; blocks until all of them are acknowledged. */
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
