package dev.millrace.mirror.cutover;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;

/** A Kafka Streams application that reads a topic, and knows of no mirror. */
final class StreamsReader implements ReadingProgram {
    /** By partitions; guarded by itself. */
    private final Map<Integer, List<Long>> timestamps = new HashMap<>();

    private final KafkaStreams application;

    /** @param folder for its state */
    StreamsReader(KafkaCluster cluster, String topic, String group, Path folder) {
        Properties config = new Properties();
        config.putAll(cluster.clientConfig());
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, group);
        config.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        // Streams does not leave its group: the session ends it.
        config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6_000);
        config.put(StreamsConfig.consumerPrefix("heartbeat.interval.ms"), 1_000);
        StreamsBuilder topology = new StreamsBuilder();
        topology.<byte[], byte[]>stream(topic).process(Taking::new);
        this.application = new KafkaStreams(topology.build(), config);
        application.start();
    }

    private final class Taking extends ContextualProcessor<byte[], byte[], Void, Void> {
        @Override
        public void process(Record<byte[], byte[]> record) {
            int partition = context().recordMetadata().orElseThrow().partition();
            synchronized (timestamps) {
                timestamps
                        .computeIfAbsent(partition, unused -> new ArrayList<>())
                        .add(record.timestamp());
            }
        }
    }

    @Override
    public long count() {
        synchronized (timestamps) {
            return timestamps.values().stream().mapToLong(List::size).sum();
        }
    }

    @Override
    public void addTo(Map<Integer, List<Long>> all) {
        synchronized (timestamps) {
            timestamps.forEach((partition, read) ->
                    all.computeIfAbsent(partition, unused -> new ArrayList<>()).addAll(read));
        }
    }

    @Override
    public void stop() {
        close();
    }

    /** Commits what it has read. */
    @Override
    public void close() {
        application.close();
    }
}
