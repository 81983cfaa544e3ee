package dev.millrace.mirror.fetch;

import dev.millrace.client.io.MonotonicClock;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.mirror.fetch.FetchPartition.Phase;
import dev.millrace.mirror.fetch.FetchPartition.ResetTo;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.CorruptRecordException;

/**
 * Handles a broker's answer for a partition: hands its bytes to the sink and moves the position, or applies the remedy
 * of an error.
 *
 * <p><b>Threads:</b> the fetch thread.
 */
final class FetchAnswers implements PositionChecks.Results {
    private final FetchSink sink;
    private final FetchMemory memory;
    private final FetchSensors sensors;
    private final FetchSettings settings;
    private final MonotonicClock clock;
    private final Supplier<ClusterImage> image;
    private final BatchWalk walk = new BatchWalk();
    private PartitionPlaces places;
    private SourceMetadata metadata;
    private PartitionFailures failures;

    FetchAnswers(
            FetchSink sink,
            FetchMemory memory,
            FetchSensors sensors,
            FetchSettings settings,
            MonotonicClock clock,
            Supplier<ClusterImage> image) {
        this.sink = sink;
        this.memory = memory;
        this.sensors = sensors;
        this.settings = settings;
        this.clock = clock;
        this.image = image;
    }

    /** Sets the collaborators; called before the first answer. */
    void connect(PartitionPlaces newPlaces, SourceMetadata newMetadata, PartitionFailures newFailures) {
        places = newPlaces;
        metadata = newMetadata;
        failures = newFailures;
    }

    /** Handles the answer for one partition unless it is no longer wanted. Returns whether it has bytes. */
    boolean take(BrokerFetches.Side side, PartitionAnswer answer, FetchMemory.Response response) {
        FetchSlot slot = answer.slot();
        FetchPartition partition = slot.owner();
        if (partition == null || !slot.isAnswerWanted()) {
            return false; // moved, unassigned or assigned again since the request
        }
        if (answer.outcome().remedy() != Remedy.NONE) {
            onFetchError(side, partition, answer.outcome());
            return false;
        }
        long nowMs = clock.nowMs();
        if (answer.readReplica() >= 0) {
            partition.readReplica = answer.readReplica();
            partition.readReplicaUntilMs = nowMs + settings.metadata().maxAgeMs();
            if (image.get().node(answer.readReplica()) == null) {
                metadata.request();
            }
            places.place(partition, nowMs);
            return false;
        }
        partition.updateOffsets(answer.offsets(), nowMs);
        if (answer.bytes().hasRemaining()) {
            return deliver(partition, answer, response, nowMs);
        }
        partition.clearFailure();
        return false;
    }

    private boolean deliver(
            FetchPartition partition, PartitionAnswer answer, FetchMemory.Response response, long nowMs) {
        ByteBuffer bytes = answer.bytes();
        try {
            walk.walk(bytes);
            if (walk.wholeBytes() == 0) {
                throw new CorruptRecordException(
                        "The broker sent " + bytes.remaining() + " bytes, which is less than the first batch");
            }
            if (walk.nextOffset() <= partition.offset()) {
                throw new CorruptRecordException("The broker sent only batches that end before the position");
            }
        } catch (CorruptRecordException e) {
            failures.tellOnce(partition, e);
            places.backOff(partition, nowMs);
            return false;
        }
        FetchedBatches fetched = fetched(partition, answer, response);
        partition.moveTo(walk.nextOffset(), walk.leaderEpoch());
        partition.clearFailure();
        partition.lastDataMs = nowMs;
        partition.hasBroughtData = true;
        partition.cold = false;
        partition.pauseAt(partition.isLimited() ? 1 : memory.partitionLimit());
        places.place(partition, nowMs);
        long end = partition.offsets().end(settings.request().isolation());
        sensors.onFetched(walk.wholeBytes(), walk.records(), end - partition.offset());
        sink.onFetched(fetched);
        return true;
    }

    private FetchedBatches fetched(FetchPartition partition, PartitionAnswer answer, FetchMemory.Response response) {
        ByteBuffer whole = answer.bytes().slice(answer.bytes().position(), walk.wholeBytes());
        FetchMemory.Response holder = response;
        if (memory.isWasteful()) {
            whole = ByteBuffer.allocate(whole.remaining()).put(whole).flip();
            holder = memory.new Response(whole.remaining());
        }
        holder.handOut(whole.remaining());
        if (holder != response) {
            holder.drop();
        }
        partition.onHandedOut(whole.remaining());
        AheadMemory ahead = partition.isLimited() ? memory.ahead() : null;
        if (ahead != null) {
            ahead.onHandedOut(whole.remaining());
        }
        return new FetchedBatches(
                partition, whole, partition.offset(), answer.offsets(), answer.aborted(), holder, ahead);
    }

    private void onFetchError(BrokerFetches.Side side, FetchPartition partition, PartitionAnswer.Outcome outcome) {
        boolean isFollower = partition.readReplica == side.broker().id();
        if (isFollower && outcome.remedy() != Remedy.STOP) { // it may lag or no longer be a replica: ask the leader
            partition.readReplica = FetchPartition.NONE;
            metadata.request();
            places.place(partition, clock.nowMs());
        } else if (outcome.remedy() == Remedy.FIND_LEADER && isNewerLeaderKnown(partition)) {
            places.place(partition, clock.nowMs());
        } else {
            onError(partition, outcome);
        }
    }

    /** Whether a leader newer than the request is known: the broker may have named it in its answer. */
    private boolean isNewerLeaderKnown(FetchPartition partition) {
        TopicPartition tp = partition.topicPartition();
        TopicImage topic = image.get().topic(tp.topic());
        return topic != null
                && tp.partition() < topic.partitions()
                && topic.leaderEpoch(tp.partition()) > partition.slot.sentEpoch();
    }

    @Override
    public void onError(FetchPartition partition, PartitionAnswer.Outcome outcome) {
        long nowMs = clock.nowMs();
        switch (outcome.remedy()) {
            case ASK_AGAIN -> places.backOff(partition, nowMs);
            case FIND_LEADER, TELL_AND_ASK_AGAIN -> {
                metadata.request();
                if (outcome.remedy() == Remedy.TELL_AND_ASK_AGAIN) {
                    failures.tellOnce(partition, outcome.error());
                }
                places.backOff(partition, nowMs);
            }
            case RESET_OFFSET -> reset(partition, outcome.error(), nowMs);
            case STOP -> places.stop(partition, outcome.error());
            case NONE -> throw new IllegalStateException("No error to handle for " + partition.topicPartition());
        }
    }

    private void reset(FetchPartition partition, ApiException cause, long nowMs) {
        if (settings.resetPolicy().isAllowed()) {
            reset(partition, ResetTo.FIRST_RECORD, nowMs);
        } else {
            TopicPartition tp = partition.topicPartition();
            places.stop(
                    partition,
                    new OffsetOutOfRangeException(
                            tp + ": offset " + partition.offset()
                                    + " is outside the log, and auto.offset.reset is none: " + cause.getMessage(),
                            Map.of(tp, partition.offset())));
        }
    }

    private void reset(FetchPartition partition, ResetTo to, long nowMs) {
        partition.phase = Phase.RESET;
        partition.resetTo = to;
        places.place(partition, nowMs);
    }

    @Override
    public void onReset(FetchPartition partition, OffsetAnswer to) {
        ResetPolicy policy = settings.resetPolicy();
        boolean isGap = partition.resetTo == ResetTo.FIRST_RECORD && to.offset() >= partition.offset();
        if (to.offset() < 0) { // by duration, and no record is that recent
            reset(partition, ResetTo.END, clock.nowMs());
        } else if (partition.resetTo == ResetTo.FIRST_RECORD && !isGap && !policy.isEarliest()) {
            reset(partition, ResetTo.POLICY, clock.nowMs());
        } else {
            move(
                    partition,
                    to,
                    isGap
                            ? "Offset out of range: the log begins later"
                            : "Offset out of range, and auto.offset.reset is " + policy.name());
        }
    }

    @Override
    public void onTruncated(FetchPartition partition, OffsetAnswer end) {
        TopicPartition tp = partition.topicPartition();
        boolean isKnown = end.offset() >= 0 && end.epoch() >= 0;
        if (!settings.resetPolicy().isAllowed()) {
            places.stop(
                    partition,
                    new LogTruncationException(
                            tp + " was truncated before offset " + partition.offset()
                                    + ", and auto.offset.reset is none",
                            Map.of(tp, partition.offset()),
                            isKnown ? Map.of(tp, new OffsetAndMetadata(end.offset())) : Map.of()));
        } else if (isKnown) {
            move(partition, end, "The log was truncated: its leader epoch " + end.epoch() + " ends there");
        } else { // the leader does not know the position's epoch
            reset(partition, ResetTo.FIRST_RECORD, clock.nowMs());
        }
    }

    private void move(FetchPartition partition, OffsetAnswer to, String cause) {
        long from = partition.offset();
        partition.moveTo(to.offset(), to.epoch());
        partition.phase = Phase.FETCH;
        TopicPartition tp = partition.topicPartition();
        partition.clearFailure();
        sink.onOffsetReset(tp, from, to.offset(), cause);
        places.place(partition, clock.nowMs());
    }

    @Override
    public void onValid(FetchPartition partition, int leaderEpoch) {
        partition.checkedEpoch = leaderEpoch;
        partition.phase = Phase.FETCH;
        partition.clearFailure();
        places.place(partition, clock.nowMs());
    }

    @Override
    public void onNoAnswer(FetchPartition partition, KafkaException failure) {
        if (!PartitionFailures.mayPass(failure)) {
            failures.tellOnce(partition, failure);
        }
        metadata.request();
        places.backOff(partition, clock.nowMs());
    }
}
