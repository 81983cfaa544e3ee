package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.io.SimulatedPartition.Written;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.DuplicateSequenceException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.UnknownTopicIdException;

/**
 * The topic of a simulated cluster, and what its brokers do with a produce request: they check before they append, wait
 * for the replicas, and answer. Leaders move, or fail and take with them what is not replicated.
 */
final class SimulatedTopic {
    static final long DAY_MS = 86_400_000;

    private final Random random;
    private final BooleanSupplier fault;
    private final LongSupplier clock;
    private final boolean checksSequences;
    private final List<SimulatedPartition> partitions = new ArrayList<>();
    private final List<SimulatedPartition> ofDeletedTopics = new ArrayList<>();
    private SimulatedCoordinator coordinator;
    private Uuid id = Uuid.ONE_UUID;
    private int timesCreated = 1;
    private int shown;
    private Described stale;
    private int maxMessageBytes = Integer.MAX_VALUE;
    private double refusalRate;
    private int mayLose = -1;
    private boolean logAppendTime;
    private long expirationMs = DAY_MS;
    private boolean forgetting;
    private boolean restarting;
    private boolean lying;
    private boolean answeredWithoutOffset;

    SimulatedTopic(
            Random random, BooleanSupplier fault, LongSupplier clock, int partitionCount, boolean checksSequences) {
        this.random = random;
        this.fault = fault;
        this.clock = clock;
        this.checksSequences = checksSequences;
        for (int p = 0; p < partitionCount; p++) {
            partitions.add(new SimulatedPartition(1 + random.nextInt(3)));
        }
        shown = partitionCount;
        stale = describe();
    }

    List<SimulatedPartition> partitions() {
        return partitions;
    }

    Uuid id() {
        return id;
    }

    /** Batches must be in transactions from now on. */
    void coordinator(SimulatedCoordinator given) {
        coordinator = given;
    }

    /** The values in a partition's log, in the order of offsets. */
    List<Long> log(int partition) {
        return partitions.get(partition).log;
    }

    /** What readers of committed records see of a partition. */
    List<Long> committed(int partition) {
        return partitions.get(partition).committed();
    }

    /** All partitions expect this sequence next. */
    void expect(int sequence) {
        partitions.forEach(partition -> partition.expect(sequence));
    }

    /** From here on, brokers sometimes say that they have not written what they have. */
    void lie() {
        lying = true;
    }

    /** From here on, brokers forget a producer so long after the newest timestamp of its last batch. */
    void forgetProducersAfter(long ms) {
        expirationMs = ms;
        forgetting = true;
    }

    /** How long they remember one. */
    long expirationMs() {
        return expirationMs;
    }

    /** From here on, a leader is stopped cleanly and started again now and then. */
    void restartLeaders() {
        restarting = true;
    }

    /** What the brokers find too large; it may change at any time. */
    void maxMessageBytes(int bytes) {
        maxMessageBytes = bytes;
    }

    /** From here on, brokers refuse so large a part of the batches for good, without writing them. */
    void refuse(double rate) {
        refusalRate = rate;
    }

    /** From here on a leader that fails takes with it what is not replicated, and so many batches that are. */
    void failLeaders(int replicatedBatches) {
        mayLose = replicatedBatches;
    }

    /** Records get the broker's timestamps. */
    void stampOnAppend() {
        logAppendTime = true;
    }

    /** The topic has only so many of its partitions; all of them once they are as many as there can be. */
    void show(int partitionCount) {
        shown = partitionCount;
    }

    /** The topic is deleted, and created with the same name. */
    void createTopicAnew() {
        stale = describe();
        id = new Uuid(7, ++timesCreated);
        ofDeletedTopics.addAll(partitions);
        partitions.replaceAll(old -> new SimulatedPartition(random.nextBoolean() ? old.leader : 1 + random.nextInt(3)));
    }

    /** Whether some batch was acknowledged by a broker that did not know its offset any more. */
    boolean hasAnsweredWithoutOffset() {
        return answeredWithoutOffset;
    }

    /** Every log that there is, and was. */
    List<SimulatedPartition> allLogs() {
        return Stream.concat(ofDeletedTopics.stream(), partitions.stream()).toList();
    }

    /** Whether the record was ever at this place of the partition of this number. */
    boolean wasWritten(int partition, Written record) {
        return IntStream.range(0, allLogs().size())
                .filter(i -> i % partitions.size() == partition)
                .anyMatch(i -> allLogs().get(i).written.contains(record));
    }

    Described describe() {
        return new Described(
                id,
                partitions.stream().limit(shown).mapToInt(p -> p.leader).toArray(),
                partitions.stream().limit(shown).mapToInt(p -> p.leaderEpoch).toArray());
    }

    /** What a broker says of the topic. */
    record Described(Uuid id, int[] leaders, int[] epochs) {}

    /** What a broker says that has not heard the news. */
    Described stale() {
        return stale;
    }

    // ---- what a broker does ----

    Result append(Uuid asked, int node, TopicPartition name, RecordBatch batch, int size) {
        SimulatedPartition partition = partitions.get(name.partition());
        ApiException refused = checkBeforeAppend(asked, node, name.partition(), batch, size);
        if (refused != null) {
            return new Result(partition, refused, -1, false);
        }
        long[] offset = {-1};
        refused = checksSequences ? partition.checkSequence(batch, offset) : null;
        if (refused != null || offset[0] >= 0) {
            answeredWithoutOffset |= refused != null; // it may be older than what is remembered
            return new Result(partition, refused, offset[0], true);
        }
        return new Result(partition, null, partition.append(batch, logAppendTime ? clock.getAsLong() : -1), false);
    }

    private ApiException checkBeforeAppend(Uuid asked, int node, int partition, RecordBatch batch, int size) {
        if (!asked.equals(id)) {
            return new UnknownTopicIdException("simulated");
        }
        if (partitions.get(partition).leader != node) {
            return new NotLeaderOrFollowerException("moved");
        }
        if (fault.getAsBoolean() && random.nextBoolean()) {
            return new NotEnoughReplicasException("simulated");
        }
        if (size > maxMessageBytes) { // looked at before the sequence, as in Kafka
            return new RecordTooLargeException("simulated");
        }
        if (refusalRate > 0 && random.nextDouble() < refusalRate) {
            return new InvalidTimestampException("simulated");
        }
        return coordinator == null ? null : coordinator.check(partition, batch);
    }

    /** The leader waits for its replicas, then answers. */
    ProduceAnswer answer(FinishedBatch batch, Result result) {
        if (result.error != null) {
            return new ProduceAnswer(batch, result.error, -1, -1);
        }
        if (result.epoch != result.partition.leaderEpoch || !partitions.contains(result.partition)) {
            return new ProduceAnswer(batch, new NotLeaderOrFollowerException("moved while it waited"), -1, -1);
        }
        if (fault.getAsBoolean() && random.nextBoolean()) {
            ApiException error = lying
                    ? new NotEnoughReplicasException("a lie: it is written")
                    : new NotEnoughReplicasAfterAppendException("simulated");
            return new ProduceAnswer(batch, error, -1, -1);
        }
        result.partition.replicate();
        if (result.duplicate && fault.getAsBoolean()) {
            answeredWithoutOffset = true;
            return new ProduceAnswer(batch, new DuplicateSequenceException("simulated"), -1, -1);
        }
        long timestamp = logAppendTime ? result.partition.timestampAt(result.offset) : -1;
        return new ProduceAnswer(batch, null, result.offset, timestamp);
    }

    /** What a broker says of a producer. */
    ProducerMemory describeProducer(int node, int partition, long producerId) {
        SimulatedPartition asked = partitions.get(partition);
        if (asked.leader != node) {
            return ProducerMemory.without(ProducerMemory.Kind.UNANSWERED);
        }
        SimulatedPartition.Producer known = asked.describe(producerId, clock.getAsLong());
        return known == null
                ? ProducerMemory.without(ProducerMemory.Kind.FORGOTTEN)
                : new ProducerMemory(ProducerMemory.Kind.REMEMBERED, known.epoch(), known.lastSequence());
    }

    /** What happens at the brokers by itself. Returns the broker that was restarted, or -1. */
    int passTime() {
        SimulatedPartition partition = partitions.get(random.nextInt(partitions.size()));
        if (forgetting && random.nextInt(4) == 0) {
            partition.forgetExpired(clock.getAsLong(), expirationMs);
        }
        if (!restarting || !fault.getAsBoolean() || random.nextInt(8) > 0) {
            return -1;
        }
        partition.restart();
        if (forgetting) { // whenever a log is loaded
            partition.forgetExpired(clock.getAsLong(), expirationMs);
        }
        return partition.leader;
    }

    LeaderHint hint(int partition) {
        SimulatedPartition current = partitions.get(partition);
        return new LeaderHint(SimulatedCluster.TOPIC, id, partition, current.leader, current.leaderEpoch);
    }

    /** Returns where it leads now. */
    int moveSomeLeader() {
        stale = describe();
        SimulatedPartition partition = partitions.get(random.nextInt(partitions.size()));
        if (mayLose >= 0) {
            partition.elect(1 + random.nextInt(3), random, mayLose);
        } else {
            partition.lead(1 + random.nextInt(3));
        }
        return partition.leader;
    }

    /** What a leader has done with a batch; it answers when its replicas have it. */
    record Result(SimulatedPartition partition, int epoch, ApiException error, long offset, boolean duplicate) {
        Result(SimulatedPartition partition, ApiException error, long offset, boolean duplicate) {
            this(partition, partition.leaderEpoch, error, offset, duplicate);
        }
    }
}
