package dev.millrace.mirror.cutover;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer of a group. */
final class GroupReader implements ReadingProgram {
    private static final Duration POLL = Duration.ofMillis(100);

    /** Only its thread uses it until that has ended. */
    private final Map<Integer, List<Long>> timestamps = new HashMap<>();

    private final AtomicLong count = new AtomicLong();
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final long most;
    private final Thread thread;
    private volatile boolean isStopped;
    private volatile RuntimeException failure;

    /**
     * @param protocol of the group, {@code classic} or {@code consumer}
     * @param most after so many records it reads no more, but stays in its group
     */
    GroupReader(KafkaCluster cluster, String topic, String group, String protocol, long most) {
        Map<String, Object> config = new HashMap<>(cluster.clientConfig());
        config.put("group.id", group);
        config.put("group.protocol", protocol);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", false);
        this.consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.most = most;
        consumer.subscribe(List.of(topic));
        this.thread = new Thread(this::read, group);
        thread.start();
    }

    private void read() {
        try (consumer) {
            while (!isStopped) {
                ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
                for (ConsumerRecord<byte[], byte[]> record : polled) {
                    timestamps
                            .computeIfAbsent(record.partition(), partition -> new ArrayList<>())
                            .add(record.timestamp());
                }
                consumer.commitSync();
                if (count.addAndGet(polled.count()) >= most) {
                    consumer.pause(consumer.assignment());
                }
            }
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    @Override
    public long count() {
        return count.get();
    }

    @Override
    public void addTo(Map<Integer, List<Long>> all) {
        timestamps.forEach((partition, read) ->
                all.computeIfAbsent(partition, unused -> new ArrayList<>()).addAll(read));
    }

    /** Leaves the group, too. */
    @Override
    public void stop() {
        close();
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void close() {
        isStopped = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
