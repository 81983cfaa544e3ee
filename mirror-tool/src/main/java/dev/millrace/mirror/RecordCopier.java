package dev.millrace.mirror;

import java.time.Duration;
import java.util.Collection;
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
 * <p>The producer limits the speed: when its {@code buffer.memory} is full, {@code send} blocks, and with it {@link
 * #forward}. Such a wait always ends: memory is freed when a record is acknowledged, or when it fails after {@code
 * delivery.timeout.ms}, which stops the mirror.
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
    private final SourcePositions positions;
    private final LostPositions lostPositions;
    private final TargetReadiness readiness;
    private final MirrorObserver observer;
    private final MirrorObserver.Sender sender;
    private final ThreadCounters counters;
    private final AckedPrefixes prefixes;
    private final SourceLag lag;
    /** Partitions that no longer existed on the source when they were assigned, so that the target may lack them. */
    private final Set<TopicPartition> notEnsured = new HashSet<>();
    /** Partitions with a gap after which the mirror is not to go on. */
    private final Set<TopicPartition> stopped = new HashSet<>();

    /**
     * @param sender of this thread alone
     */
    RecordCopier(
            Mirror mirror,
            Consumer<byte[], byte[]> consumer,
            SourcePositions positions,
            LostPositions lostPositions,
            TargetReadiness readiness,
            MirrorObserver observer,
            MirrorObserver.Sender sender) {
        this.mirror = mirror;
        this.consumer = consumer;
        this.positions = positions;
        this.lostPositions = lostPositions;
        this.readiness = readiness;
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
    public void add(Map<TopicPartition, SourcePositions.Start> partitions, Set<TopicPartition> gone) {
        positions.seek(partitions);
        partitions.forEach((partition, start) -> prefixes.add(partition, start.topicId()));
        notEnsured.addAll(gone);
    }

    @Override
    public void onOutOfRange(OffsetOutOfRangeException thrown) {
        LostPositions.Outcome outcome = lostPositions.find(thrown, prefixes.partitions());
        outcome.goingOn().forEach((partition, to) -> {
            consumer.seek(partition, to);
            // A page of no records moves the position as soon as all before is acknowledged.
            AckedPrefix.Page unused = prefixes.get(partition).addPage(0, to);
        });
        for (TopicPartition partition : outcome.stopped()) {
            stopped.add(partition);
            consumer.seek(partition, 0); // Or the consumer would ask about the lost position again and again.
            consumer.pause(Set.of(partition));
        }
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
            forward(partition, polled.records(partition), polled.nextOffsets().get(partition));
        }
    }

    private void forward(
            TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records, OffsetAndMetadata next) {
        if (notEnsured.remove(partition)) {
            readiness.ensure(partition); // The topic is there again.
        }
        AckedPrefix.Page page = prefixes.get(partition).addPage(records.size(), next);
        long bytes = 0;
        int sent = 0;
        try {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (!mirror.isRunning()) {
                    break; // Records that are not sent are not in the prefix, and will be read again.
                }
                bytes += Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
                sent++;
                send(record, page);
            }
        } finally {
            counters.addSent(sent, bytes);
        }
    }

    private void send(ConsumerRecord<byte[], byte[]> record, AckedPrefix.Page page) {
        Callback callback = page.add(record.offset());
        try {
            sender.send(copyOf(record), callback);
        } catch (RuntimeException | Error e) {
            throw page.onRefused(e);
        }
    }

    private static ProducerRecord<byte[], byte[]> copyOf(ConsumerRecord<byte[], byte[]> record) {
        // Records of the oldest format have no timestamp; the target gives them one.
        Long timestamp = record.timestamp() < 0 ? null : record.timestamp();
        return new ProducerRecord<>(
                record.topic(), record.partition(), timestamp, record.key(), record.value(), record.headers());
    }

    @Override
    public Duration pollTimeout() {
        return prefixes.outstanding() == 0 ? IDLE_POLL : BUSY_POLL;
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

    /** Nothing is read but by {@link #forward}. */
    @Override
    public void stopReading(Collection<TopicPartition> partitions) {}

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
        prefixes.giveUp(partitions);
        notEnsured.removeAll(partitions);
        stopped.removeAll(partitions);
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
