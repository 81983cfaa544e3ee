package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.BrokerLink.ProduceAnswer;
import dev.millrace.client.io.SimulatedPartition.Written;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.DuplicateSequenceException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownServerException;
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
    private final Acknowledgements acknowledgements = new Acknowledgements();
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
    private boolean losingLeaders;
    private boolean failingInside;
    private boolean takingNames;
    private FormerLeaders formerLeaders;

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

    /** From here on a partition whose leader fails sometimes has none for a while. */
    void loseLeaders() {
        losingLeaders = true;
    }

    /** From here on brokers fail inside, before or after they have written a batch. */
    void failInside() {
        failingInside = true;
    }

    /** From here on a leader may go on as one after another broker has been elected. */
    void keepFormerLeaders() {
        formerLeaders = new FormerLeaders(random);
    }

    /** Requests name the topic, as older ones do, so a new topic gets what was meant for the one before. */
    void takeNames() {
        takingNames = true;
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

    /** What answers have told the producer. */
    Acknowledgements acknowledgements() {
        return acknowledgements;
    }

    /** Every log that there is, and was. */
    List<SimulatedPartition> allLogs() {
        return Stream.concat(ofDeletedTopics.stream(), partitions.stream()).toList();
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
        SimulatedPartition partition = led(name.partition(), node);
        ApiException refused = checkBeforeAppend(asked, node, name.partition(), batch, size);
        if (refused != null) {
            return new Result(partition, refused, -1, false);
        }
        long[] offset = {-1};
        refused = checksSequences ? partition.checkSequence(batch, offset) : null;
        if (refused != null || offset[0] >= 0) {
            return new Result(partition, refused, offset[0], true);
        }
        return new Result(partition, null, partition.append(batch, logAppendTime ? clock.getAsLong() : -1), false);
    }

    /** The partition as the broker knows it: one that was its leader may have a log of its own. */
    private SimulatedPartition led(int partition, int node) {
        SimulatedPartition known = partitions.get(partition);
        return formerLeaders == null ? known : formerLeaders.asKnownTo(node, known);
    }

    private ApiException checkBeforeAppend(Uuid asked, int node, int partition, RecordBatch batch, int size) {
        if (!takingNames && !asked.equals(id)) {
            return new UnknownTopicIdException("simulated");
        }
        if (led(partition, node).leader != node) {
            return new NotLeaderOrFollowerException("moved");
        }
        if (fault.getAsBoolean() && random.nextBoolean()) {
            return failingInside ? failureInside() : new NotEnoughReplicasException("simulated");
        }
        if (size > maxMessageBytes) { // looked at before the sequence, as in Kafka
            return new RecordTooLargeException("simulated");
        }
        if (refusalRate > 0 && random.nextDouble() < refusalRate) {
            return new InvalidTimestampException("simulated");
        }
        return coordinator == null ? null : coordinator.check(partition, batch);
    }

    private ApiException failureInside() {
        return switch (random.nextInt(3)) {
            case 0 -> new TimeoutException("simulated");
            case 1 -> new KafkaStorageException("simulated");
            default -> new UnknownServerException("simulated");
        };
    }

    /** The leader waits for its replicas, then answers. */
    ProduceAnswer answer(FinishedBatch batch, Result result) {
        if (result.error != null) {
            return new ProduceAnswer(batch, result.error, -1, -1);
        }
        ApiException error = errorAfterAppend(result);
        if (error != null) {
            return new ProduceAnswer(batch, error, -1, -1);
        }
        result.partition.replicate();
        if (result.duplicate && fault.getAsBoolean()) {
            return new ProduceAnswer(batch, new DuplicateSequenceException("simulated"), -1, -1);
        }
        long timestamp = logAppendTime ? result.partition.timestampAt(result.offset) : -1;
        return new ProduceAnswer(batch, null, result.offset, timestamp);
    }

    private ApiException errorAfterAppend(Result result) {
        SimulatedPartition partition =
                formerLeaders == null ? result.partition : formerLeaders.asKnownIn(result.epoch, result.partition);
        if (result.epoch != partition.leaderEpoch || ofDeletedTopics.contains(partition)) {
            return new NotLeaderOrFollowerException("moved while it waited");
        }
        if (partition.isFork() && !partition.isReplicated(result.offset)) {
            return new TimeoutException("no replica follows this leader any more");
        }
        if (fault.getAsBoolean() && random.nextBoolean()) {
            if (failingInside) {
                return failureInside();
            }
            return lying
                    ? new NotEnoughReplicasException("a lie: it is written")
                    : new NotEnoughReplicasAfterAppendException("simulated");
        }
        return null;
    }

    /** Notes what the answer acknowledges; run when it reaches the producer. */
    Runnable acknowledgement(ProduceAnswer answer, Result result) {
        boolean isDuplicate = answer.error() instanceof DuplicateSequenceException;
        if (answer.error() != null && !isDuplicate) {
            return () -> {};
        }
        List<Written> records =
                result.partition.recordsAt(result.offset, answer.batch().count());
        return () -> acknowledgements.add(records, !isDuplicate);
    }

    /** What a broker says of a producer. */
    ProducerMemory describeProducer(int node, int partition, long producerId) {
        SimulatedPartition asked = led(partition, node);
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
        if (partition.leader == TopicImage.NO_LEADER && random.nextInt(8) == 0) {
            elect(partition, 1 + random.nextInt(3));
        }
        if (formerLeaders != null && random.nextInt(8) == 0) {
            formerLeaders.endOne();
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

    /** What a broker that refuses a batch says of the leader: nothing if there is none. */
    List<LeaderHint> hints(int partition) {
        SimulatedPartition current = partitions.get(partition);
        return current.leader == TopicImage.NO_LEADER
                ? List.of()
                : List.of(new LeaderHint(SimulatedCluster.TOPIC, id, partition, current.leader, current.leaderEpoch));
    }

    /** Returns where it leads now. */
    int moveSomeLeader() {
        stale = describe();
        SimulatedPartition partition = partitions.get(random.nextInt(partitions.size()));
        if (losingLeaders && random.nextBoolean()) {
            partition.lead(TopicImage.NO_LEADER);
            return partition.leader;
        }
        int next = 1 + random.nextInt(3);
        if (formerLeaders == null) {
            elect(partition, next);
        } else {
            formerLeaders.replace(partition, next);
        }
        return partition.leader;
    }

    /** A broker that stays leader, in a new epoch, loses nothing. */
    private void elect(SimulatedPartition partition, int node) {
        if (mayLose < 0 || node == partition.leader) {
            partition.lead(node);
        } else if (!partition.isToFollow(node, clock.getAsLong())) {
            partition.elect(node, random, mayLose);
        }
    }

    /** What a leader has done with a batch; it answers when its replicas have it. */
    record Result(SimulatedPartition partition, int epoch, ApiException error, long offset, boolean duplicate) {
        Result(SimulatedPartition partition, ApiException error, long offset, boolean duplicate) {
            this(partition, partition.leaderEpoch, error, offset, duplicate);
        }
    }
}
