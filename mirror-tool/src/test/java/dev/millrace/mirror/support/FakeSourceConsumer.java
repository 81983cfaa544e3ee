package dev.millrace.mirror.support;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A consumer with a scripted source: a test can create and delete its topics, and can shut it down. It takes commits as
 * a broker would.
 *
 * <p><b>Threads:</b> the consumer's thread; any may set whether the group is rebalancing.
 */
public final class FakeSourceConsumer extends MockConsumer<byte[], byte[]> {
    private static final int PARTITIONS = 2;

    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
    private final AtomicBoolean rebalancing;
    private final Set<String> topics = new HashSet<>();
    private final Queue<ConsumerRecords<byte[], byte[]>> scripted = new ArrayDeque<>();
    private final Set<TopicPartition> leaderless = new HashSet<>();
    private final Map<TopicPartition, OffsetAndTimestamp> times = new HashMap<>();
    private int refusals;
    private boolean down;
    private Runnable onCommit = () -> {};

    public FakeSourceConsumer(AtomicBoolean rebalancing, String... topics) {
        super("earliest");
        this.rebalancing = rebalancing;
        this.topics.addAll(Set.of(topics));
    }

    /** What has been committed so far; grows as the consumer commits. */
    public Map<TopicPartition, OffsetAndMetadata> committedOffsets() {
        return committed;
    }

    public void create(String topic) {
        topics.add(topic);
    }

    public void delete(String topic) {
        topics.remove(topic);
    }

    /** Takes the partition's leader away, or gives it one. */
    public void setLed(TopicPartition partition, boolean isLed) {
        if (isLed) {
            leaderless.remove(partition);
        } else {
            leaderless.add(partition);
        }
    }

    /** Sets which record is the first since a time. */
    public void setTime(TopicPartition partition, long timestamp, long offset) {
        times.put(partition, new OffsetAndTimestamp(offset, timestamp));
    }

    @Override
    public synchronized Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
            Map<TopicPartition, Long> wanted, Duration timeout) {
        Map<TopicPartition, OffsetAndTimestamp> found = new HashMap<>();
        wanted.forEach((partition, timestamp) -> found.put(
                partition,
                times.containsKey(partition) && times.get(partition).timestamp() >= timestamp
                        ? times.get(partition)
                        : null));
        return found;
    }

    public void goDown() {
        down = true;
    }

    /** Lets the next questions for committed offsets fail, so many times. */
    public void refuseCommitted(int times) {
        refusals = times;
    }

    @Override
    public synchronized Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
        if (refusals > 0) {
            refusals--;
            throw new TimeoutException("No answer");
        }
        return super.committed(partitions);
    }

    /** Makes a poll return these records instead of those that were added. */
    public void returnNext(ConsumerRecords<byte[], byte[]> records) {
        scripted.add(records);
    }

    @Override
    public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        ConsumerRecords<byte[], byte[]> added = super.poll(timeout);
        return scripted.isEmpty() ? added : scripted.remove();
    }

    /** Sets what to do after each commit that succeeds. */
    public void onCommit(Runnable action) {
        onCommit = action;
    }

    public void assign(TopicPartition... partitions) {
        rebalance(List.of(partitions));
        for (TopicPartition partition : partitions) {
            updateBeginningOffsets(Map.of(partition, 0L));
        }
    }

    public void add(TopicPartition partition, int records) {
        for (int offset = 0; offset < records; offset++) {
            addRecord(new ConsumerRecord<>(partition.topic(), partition.partition(), offset, null, new byte[0]));
        }
    }

    @Override
    public synchronized Set<String> subscription() {
        return Set.copyOf(topics);
    }

    @Override
    public synchronized Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        if (partitions.stream().anyMatch(leaderless::contains)) {
            throw new TimeoutException("A partition has no leader");
        }
        return super.endOffsets(partitions);
    }

    @Override
    public Map<String, List<PartitionInfo>> listTopics(Duration timeout) {
        if (down) {
            throw new TimeoutException("The source is down");
        }
        return topics.stream()
                .collect(Collectors.toMap(
                        topic -> topic,
                        topic -> IntStream.range(0, PARTITIONS)
                                .mapToObj(p -> info(new TopicPartition(topic, p)))
                                .toList()));
    }

    private PartitionInfo info(TopicPartition partition) {
        Node leader = leaderless.contains(partition) ? null : new Node(1, "localhost", 9092);
        return new PartitionInfo(partition.topic(), partition.partition(), leader, null, null);
    }

    @Override
    public synchronized void commitAsync(
            Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
        if (rebalancing.get()) {
            throw new RebalanceInProgressException();
        }
        boolean exist = offsets.keySet().stream().allMatch(partition -> topics.contains(partition.topic()));
        if (exist && !down) {
            super.commitAsync(offsets, callback); // The mock's synchronous commits call this, too.
            committed.putAll(offsets);
            onCommit.run();
        } else if (callback == null) {
            throw new TimeoutException("Not committed in time");
        } else {
            callback.onComplete(offsets, new RetriableCommitFailedException("Not committed"));
        }
    }
}
