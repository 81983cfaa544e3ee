package dev.millrace.mirror.copy;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.progress.ConsumerPositions;
import dev.millrace.mirror.progress.SourcePositions;
import dev.millrace.mirror.refused.RefusedRecordReport;
import dev.millrace.mirror.refused.RefusedRecordSearch;
import dev.millrace.mirror.refused.RefusedRecordSearches;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.SourceLag;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.status.ThreadCounters;
import dev.millrace.mirror.topics.TargetPartitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Sends each record that the consumer returns to the same partition of the target, with a callback.
 *
 * <p>The producer limits the speed: when its {@code buffer.memory} is full, {@code send} blocks for at most {@code
 * max.block.ms} and then refuses the record. Refused records, and those that a partition may not have in flight yet,
 * stay here; such partitions are paused, so that they are polled and nothing is read. Each {@link #forward} tries
 * again.
 *
 * <p><b>Threads:</b> the member's thread; any thread calls {@link #totals}.
 * <p><b>Ordering:</b> see {@link AckedPrefix} and {@link ThreadCounters}; only the member's thread uses everything
 * else.
 */
public final class RecordCopier implements PartitionCopier {
    private static final Duration IDLE_POLL = Duration.ofMillis(200);
    /** Applies while acknowledgements are awaited; short, so that counters and positions to commit stay current. */
    private static final Duration BUSY_POLL = Duration.ofMillis(5);

    private final RunningMirror mirror;
    private final Consumer<byte[], byte[]> consumer;
    private final ConsumerPositions positions;
    private final TargetPartitions target;
    private final InFlightMemory memory;
    private final MirrorObserver observer;
    private final TopicControls controls;
    private final ThreadCounters counters;
    private final PolledRecordSender sender;
    private final AckedPrefixes prefixes;
    private final SourceLag lag;
    private final PolledRecords unsent = new PolledRecords();
    private final Map<TopicPartition, ForwardedPartition> forwarded = new HashMap<>();
    private final PausedReading reading;
    private final Optional<RefusedRecordSearch.Context> context;
    private final RefusedRecordSearches searches;

    /**
     * @param sender of this thread alone
     * @param context of the searches for refused records; empty if any refused record stops the mirror
     */
    public RecordCopier(
            RunningMirror mirror,
            Consumer<byte[], byte[]> consumer,
            ConsumerPositions positions,
            TargetPartitions target,
            InFlightMemory memory,
            MirrorObserver observer,
            MirrorObserver.Sender sender,
            Optional<RefusedRecordSearch.Context> context) {
        this.context = context;
        this.searches = new RefusedRecordSearches(
                consumer,
                context,
                (partition, position, topicId, unused) ->
                        mirror.commits().onSource(partition, position, topicId, Optional.empty()),
                this::goOn);
        this.mirror = mirror;
        this.consumer = consumer;
        this.positions = positions;
        this.target = target;
        this.memory = memory;
        this.observer = observer;
        this.controls = mirror.controls();
        this.reading = new PausedReading(consumer, controls);
        long now = System.nanoTime();
        this.counters = new ThreadCounters(now);
        this.sender = new PolledRecordSender(mirror, sender, counters);
        this.prefixes = new AckedPrefixes(mirror::fail, mirror.commits()::onSource, counters, observer);
        this.lag = new SourceLag(consumer, now);
    }

    @Override
    public void add(Map<TopicPartition, SourcePositions.Start> partitions) {
        positions.seek(partitions);
        reading.start(partitions.keySet()); // one that was stopped after a gap may begin again
        partitions.forEach((partition, start) -> {
            addPrefix(partition, start, searches.areFor(partition.topic()));
            forwarded.put(
                    partition,
                    new ForwardedPartition(partition, start, memory.new Share(), controls.of(partition.topic())));
        });
    }

    @Override
    public void onOutOfRange(OffsetOutOfRangeException thrown) {
        ConsumerPositions.Recovery recovery = positions.recover(thrown);
        reading.stopAfterGap(recovery.stopped());
        recovery.moved().forEach((partition, to) -> {
            if (!searches.has(partition)) { // otherwise it is moved when it goes on
                // An empty page moves the position as soon as all before it is acknowledged.
                AckedPrefix.Page unused = prefixes.get(partition).addPage(0, to);
            }
        });
    }

    @Override
    public void forward(ConsumerRecords<byte[], byte[]> polled) {
        if (!polled.isEmpty()) {
            observer.onPolled(polled.count());
        }
        // If there was only an aborted transaction or a transaction marker, the poll has no records but moves the
        // position. A consumer interceptor may have removed the next positions.
        Set<TopicPartition> partitions = new HashSet<>(polled.nextOffsets().keySet());
        partitions.addAll(polled.partitions());
        partitions.removeIf(reading::isStopped);
        partitions.removeAll(searches.partitions());
        for (TopicPartition partition : partitions) {
            List<ConsumerRecord<byte[], byte[]>> records = polled.records(partition);
            AckedPrefix.Page page = prefixes.get(partition)
                    .addPage(records.size(), polled.nextOffsets().get(partition));
            if (!records.isEmpty()) {
                unsent.add(partition, page, records);
            }
        }
        boolean isAnyTopicPaused = !controls.state().pauses().isEmpty();
        if (!unsent.isEmpty() || reading.hasPaused() || isAnyTopicPaused) {
            sendUnsent();
            pauseWhatWaits();
        }
    }

    /** One refusal ends the round, because the next record would be refused as well, after as long a time. */
    private void sendUnsent() {
        sender.beginRound();
        for (TopicPartition partition : unsent.partitions()) {
            sendUnsent(partition);
            if (sender.isRefused()) {
                unsent.moveToEnd(partition);
                return;
            }
        }
    }

    private void sendUnsent(TopicPartition partition) {
        ForwardedPartition next = forwarded.get(partition);
        AckedPrefix prefix = prefixes.get(partition);
        PolledRecords.Polled polled = unsent.firstOrNull(partition);
        while (polled != null && mayWrite(partition) && sender.send(partition, polled, next, prefix)) {
            unsent.removeFirst(partition);
            polled = unsent.firstOrNull(partition);
        }
    }

    private boolean mayWrite(TopicPartition partition) {
        return target.isReady(partition)
                && prefixes.get(partition).goBackCauseOrNull() == null
                && hasSequence(partition);
    }

    /** Returns whether producer id, epoch and sequence are set, or not needed. */
    private boolean hasSequence(TopicPartition partition) {
        return !searches.areFor(partition.topic())
                || forwarded.get(partition).trySetSequence(context.orElseThrow(), () -> prefixes.isSettled(partition));
    }

    /** After a refusal no partition is read any more: there is no memory to send its records. */
    private void pauseWhatWaits() {
        Collection<TopicPartition> waiting = sender.isRefused() ? consumer.assignment() : unsent.partitions();
        reading.pauseOnly(waiting, prefixes.partitions(), searches.partitions());
    }

    /** Stops partitions of which the target has refused a record, once everything sent of them has its outcome. */
    private void goBack() {
        for (TopicPartition partition : List.copyOf(prefixes.partitions())) {
            AckedPrefix prefix = prefixes.get(partition);
            if (prefix.goBackCauseOrNull() == null || !prefix.isSettled()) {
                continue;
            }
            prefixes.advance(); // over what got its outcome just now
            OffsetAndMetadata from = prefix.goBackPosition();
            ForwardedPartition next = forwarded.get(partition);
            SourcePositions.Start start = next.start().movedTo(from);
            ResumePoint at = next.end(prefix.acked(), from.offset());
            long until = prefix.sentUntil();
            unsent.remove(List.of(partition));
            prefixes.forget(partition);
            reading.pause(partition);
            if (RefusedRecordReport.isRefusal(prefix.goBackCauseOrNull())) {
                mirror.copiedOffsets().suspend(partition);
                searches.add(
                        new RefusedRecordSearch.Task(partition, start, until, at, 0, 0, OptionalInt.empty(), null));
            } else {
                goOn(partition, start, at, false);
            }
        }
    }

    private void goOn(TopicPartition partition, SourcePositions.Start from, ResumePoint known, boolean areKnown) {
        if (searches.isEnding(partition)) {
            return;
        }
        consumer.seek(partition, new OffsetAndMetadata(from.offset(), from.leaderEpoch(), ""));
        reading.start(List.of(partition));
        forwarded.get(partition).beginAgain(from, areKnown ? known : null);
        addPrefix(partition, from, true);
    }

    private void addPrefix(TopicPartition partition, SourcePositions.Start from, boolean goesBack) {
        prefixes.add(
                partition,
                from.topicId(),
                goesBack,
                mirror.copiedOffsets().begin(partition, from.topicId(), from.offset()));
    }

    @Override
    public Duration pollTimeout() {
        return prefixes.outstanding() == 0 && unsent.isEmpty() ? IDLE_POLL : BUSY_POLL;
    }

    @Override
    public Duration pollPause() {
        return Duration.ZERO;
    }

    @Override
    public boolean advance() {
        prefixes.advance();
        prefixes.partitions()
                .forEach(partition -> forwarded
                        .get(partition)
                        .share()
                        .update(prefixes.get(partition).outstandingBytes()));
        if (context.isPresent()) {
            goBack();
            searches.advance(prefixes::isSettled, counters, observer);
        }
        return true; // it has looked at all partitions to find out
    }

    @Override
    public void measureLag(long nowNanos, Set<TopicPartition> notStarted) {
        boolean areAllKnown = notStarted.isEmpty();
        lag.measure(prefixes.partitions(), this::unpolled, isNothingRead(nowNanos), areAllKnown, counters, nowNanos);
        long nowMs = System.currentTimeMillis();
        for (TopicPartition partition : prefixes.partitions()) {
            OptionalLong unpolled = unpolled(partition);
            long sent = prefixes.get(partition).outstanding();
            long left = unpolled.isPresent() ? unpolled.getAsLong() + unsent.count(partition) + sent : -1;
            counters.of(partition).onMeasured(left, sent, stallOrNull(partition), nowMs);
        }
        searches.partitions().forEach(partition -> counters.of(partition).onStalled(searches.stall(partition)));
        notStarted.forEach(partition -> counters.of(partition).onStalled(StallCause.STARTING));
        Set<TopicPartition> all = partitions();
        all.addAll(notStarted);
        counters.onAlive(consumer.groupMetadata().generationId() >= 0, all, nowNanos);
    }

    /** Returns false for a partition that waits for its turn under a throttle, or does not wait. */
    private boolean isWaitingForTarget(TopicPartition partition) {
        return unsent.has(partition) && !(forwarded.get(partition).turn().isWaiting() && target.isReady(partition));
    }

    /** Returns whether all partitions are paused, and it is known where they end. */
    private boolean isNothingRead(long nowNanos) {
        return prefixes.partitions().stream()
                .allMatch(partition -> mirror.pausedEnds().isCurrent(partition, nowNanos));
    }

    /** Returns how many records of a partition are not polled. */
    private OptionalLong unpolled(TopicPartition partition) {
        OptionalLong end = mirror.pausedEnds().of(partition);
        if (end.isEmpty()) {
            return consumer.currentLag(partition);
        }
        try {
            return OptionalLong.of(Math.max(0, end.getAsLong() - consumer.position(partition, Duration.ZERO)));
        } catch (TimeoutException
                | InvalidOffsetException e) { // it is being validated, or poll() will throw that again
            return OptionalLong.empty();
        }
    }

    private StallCause stallOrNull(TopicPartition partition) {
        if (reading.isStopped(partition)) {
            return StallCause.STOPPED;
        }
        if (!isWaitingForTarget(partition)) {
            return null;
        }
        if (!target.isReady(partition)) {
            return StallCause.TARGET_NOT_READY;
        }
        return sender.isRefused() ? StallCause.BUFFER_FULL : StallCause.IN_FLIGHT_FULL;
    }

    @Override
    public Set<TopicPartition> partitions() {
        Set<TopicPartition> partitions = new HashSet<>(prefixes.partitions());
        partitions.addAll(searches.partitions());
        return partitions;
    }

    @Override
    public void stopReading(Collection<TopicPartition> partitions) {
        unsent.remove(partitions);
        searches.stop(partitions);
    }

    /** Asks only the searches for refused records, because this thread sends in {@link #forward} only. */
    @Override
    public boolean isSending(Collection<TopicPartition> partitions) {
        return searches.isSending(partitions);
    }

    @Override
    public List<TopicPartition> awaited(Collection<TopicPartition> partitions) {
        List<TopicPartition> awaited = new ArrayList<>(prefixes.awaited(partitions));
        awaited.addAll(searches.awaited(partitions));
        return awaited;
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> positions = prefixes.positions(partitions);
        positions.putAll(searches.positions(partitions));
        return positions;
    }

    @Override
    public void giveUp(Collection<TopicPartition> partitions) {
        unsent.remove(partitions);
        partitions.forEach(partition -> {
            ForwardedPartition gone = forwarded.remove(partition);
            if (gone != null) {
                gone.share().close();
            }
        });
        searches.remove(partitions);
        prefixes.giveUp(partitions);
        reading.forget(partitions);
    }

    @Override
    public Map<TopicPartition, Long> waiting() {
        Map<TopicPartition, Long> waiting = prefixes.waiting(this::isWaitingForTarget);
        waiting.putAll(searches.waiting());
        return waiting;
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
    public ThreadCounters counters() {
        return counters;
    }

    @Override
    public void close() {
        searches.close();
    }
}
