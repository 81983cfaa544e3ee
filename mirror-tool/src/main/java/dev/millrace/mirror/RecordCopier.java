package dev.millrace.mirror;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * Sends each record that the consumer returns to the same partition of the target, with a callback.
 *
 * <p>The producer limits the speed: when its {@code buffer.memory} is full, {@code send} blocks for at most {@code
 * max.block.ms} and then refuses the record. What it refuses, and what a partition may not have in flight yet, stays
 * here; such partitions are paused, so that they are polled and nothing is read. Each {@link #forward} tries again.
 *
 * <p><b>Threads:</b> that of the consumer; {@link #totals} in any.
 * <p><b>Ordering:</b> see {@link AckedPrefix} and {@link ThreadCounters}; only the thread uses everything else.
 */
final class RecordCopier implements PartitionCopier {
    private static final Duration IDLE_POLL = Duration.ofMillis(200);
    /** Short while acknowledgements are awaited, so that the counters and the positions to commit stay current. */
    private static final Duration BUSY_POLL = Duration.ofMillis(5);

    private final Mirror mirror;
    private final Consumer<byte[], byte[]> consumer;
    private final ConsumerPositions positions;
    private final TargetPartitions target;
    private final InFlightMemory memory;
    private final MirrorObserver observer;
    private final MirrorObserver.Sender sender;
    private final ThreadCounters counters;
    private final AckedPrefixes prefixes;
    private final SourceLag lag;
    private final UnsentRecords unsent = new UnsentRecords();
    private final Map<TopicPartition, InFlightMemory.Share> shares = new HashMap<>();
    /** By this copier. */
    private final Set<TopicPartition> paused = new HashSet<>();

    /** Partitions with a gap after which the mirror is not to go on. */
    private final Set<TopicPartition> stopped = new HashSet<>();

    private boolean isRefused;

    /** @param sender of this thread alone */
    RecordCopier(
            Mirror mirror,
            Consumer<byte[], byte[]> consumer,
            ConsumerPositions positions,
            TargetPartitions target,
            InFlightMemory memory,
            MirrorObserver observer,
            MirrorObserver.Sender sender) {
        this.mirror = mirror;
        this.consumer = consumer;
        this.positions = positions;
        this.target = target;
        this.memory = memory;
        this.observer = observer;
        this.sender = sender;
        long now = System.nanoTime();
        this.counters = new ThreadCounters(now);
        this.prefixes = new AckedPrefixes(mirror::fail, this::withMetadata, counters, observer);
        this.lag = new SourceLag(consumer, now);
    }

    private OffsetAndMetadata withMetadata(OffsetAndMetadata position, Uuid topicId) {
        return mirror.withMetadata(position, topicId, Optional.empty());
    }

    @Override
    public void add(Map<TopicPartition, SourcePositions.Start> partitions) {
        positions.seek(partitions);
        consumer.resume(partitions.keySet()); // One that was stopped after a gap may begin anew.
        partitions.forEach((partition, start) -> {
            prefixes.add(partition, start.topicId());
            shares.put(partition, memory.new Share());
        });
    }

    @Override
    public void onOutOfRange(OffsetOutOfRangeException thrown) {
        ConsumerPositions.Recovery recovery = positions.recover(thrown);
        stopped.addAll(recovery.stopped());
        recovery.moved().forEach((partition, to) -> {
            // A page of no records moves the position as soon as all before is acknowledged.
            AckedPrefix.Page unused = prefixes.get(partition).addPage(0, to);
        });
    }

    @Override
    public void forward(ConsumerRecords<byte[], byte[]> polled) {
        if (!polled.isEmpty()) {
            observer.onPolled(polled.count());
        }
        // After an aborted transaction or a transaction marker alone, the poll has no records but moves the position.
        // A consumer interceptor may have removed the next positions.
        Set<TopicPartition> partitions = new HashSet<>(polled.nextOffsets().keySet());
        partitions.addAll(polled.partitions());
        partitions.removeAll(stopped);
        for (TopicPartition partition : partitions) {
            List<ConsumerRecord<byte[], byte[]>> records = polled.records(partition);
            AckedPrefix.Page page = prefixes.get(partition)
                    .addPage(records.size(), polled.nextOffsets().get(partition));
            if (!records.isEmpty()) {
                unsent.add(partition, page, records);
            }
        }
        if (!unsent.isEmpty() || !paused.isEmpty()) {
            sendUnsent();
            pauseWhatWaits();
        }
    }

    /** One refusal ends the round, because the next record would be refused as well, after as long a time. */
    private void sendUnsent() {
        isRefused = false;
        for (TopicPartition partition : unsent.partitions()) {
            sendUnsent(partition);
            if (isRefused) {
                unsent.moveToEnd(partition);
                return;
            }
        }
    }

    private void sendUnsent(TopicPartition partition) {
        UnsentRecords.Polled polled = unsent.firstOrNull(partition);
        while (polled != null && mayWrite(partition) && send(partition, polled)) {
            unsent.removeFirst(partition);
            polled = unsent.firstOrNull(partition);
        }
    }

    private boolean mayWrite(TopicPartition partition) {
        return target.isReady(partition)
                && shares.get(partition).hasRoom(prefixes.get(partition).outstanding());
    }

    /** Returns whether all was sent. */
    private boolean send(TopicPartition partition, UnsentRecords.Polled polled) {
        long bytes = 0;
        int sent = 0;
        try {
            ConsumerRecord<byte[], byte[]> record = polled.nextOrNull();
            while (record != null && mirror.isRunning()) {
                int size = Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
                bytes += size;
                sent++; // also if send throws
                if (!send(record, polled.page())) {
                    bytes -= size;
                    sent--;
                    return false;
                }
                polled.onSent();
                record = polled.nextOrNull();
            }
            return record == null;
        } finally {
            counters.addSent(sent, bytes);
            shares.get(partition).onSent(sent, bytes);
        }
    }

    /** Returns false if the producer has refused the record for now. */
    private boolean send(ConsumerRecord<byte[], byte[]> record, AckedPrefix.Page page) {
        Callback callback = page.add(record.offset());
        try {
            sender.send(copyOf(record), callback);
        } catch (RuntimeException | Error e) {
            throw page.onRefused(e);
        }
        isRefused = page.takeBackIfRefused();
        return !isRefused;
    }

    /** After a refusal nothing more is read of any partition: there is no memory to send it. */
    private void pauseWhatWaits() {
        Collection<TopicPartition> waiting = isRefused ? consumer.assignment() : unsent.partitions();
        Set<TopicPartition> resumed = new HashSet<>(paused);
        resumed.removeAll(Set.copyOf(waiting));
        resumed.retainAll(consumer.assignment());
        resumed.removeAll(stopped);
        consumer.resume(resumed);
        consumer.pause(waiting);
        paused.clear();
        paused.addAll(waiting);
    }

    private static ProducerRecord<byte[], byte[]> copyOf(ConsumerRecord<byte[], byte[]> record) {
        // Records of the oldest format have no timestamp; the target gives them one.
        Long timestamp = record.timestamp() < 0 ? null : record.timestamp();
        return new ProducerRecord<>(
                record.topic(), record.partition(), timestamp, record.key(), record.value(), record.headers());
    }

    @Override
    public Duration pollTimeout() {
        return prefixes.outstanding() == 0 && unsent.isEmpty() ? IDLE_POLL : BUSY_POLL;
    }

    @Override
    public void advance() {
        prefixes.advance();
    }

    @Override
    public void measureLag(long nowNanos) {
        lag.measure(prefixes.partitions(), counters, nowNanos);
    }

    @Override
    public Set<TopicPartition> partitions() {
        return prefixes.partitions();
    }

    @Override
    public void stopReading(Collection<TopicPartition> partitions) {
        unsent.remove(partitions);
    }

    /** Only {@link #forward} sends. */
    @Override
    public boolean isSending(Collection<TopicPartition> partitions) {
        return false;
    }

    @Override
    public List<TopicPartition> awaited(Collection<TopicPartition> partitions) {
        return prefixes.awaited(partitions);
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions) {
        return prefixes.positions(partitions);
    }

    @Override
    public void giveUp(Collection<TopicPartition> partitions) {
        unsent.remove(partitions);
        partitions.forEach(partition -> {
            InFlightMemory.Share share = shares.remove(partition);
            if (share != null) {
                share.update(0);
            }
        });
        prefixes.giveUp(partitions);
        stopped.removeAll(partitions);
    }

    @Override
    public Map<TopicPartition, Long> waiting() {
        return prefixes.waiting(unsent::has);
    }

    @Override
    public void clear() {
        prefixes.clear();
    }

    @Override
    public MirrorTotals totals() {
        return counters.totals(System.nanoTime());
    }

    @Override
    public void close() {}
}
