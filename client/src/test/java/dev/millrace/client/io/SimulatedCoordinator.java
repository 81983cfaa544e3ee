package dev.millrace.client.io;

import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.ConcurrentTransactionsException;
import org.apache.kafka.common.errors.CoordinatorLoadInProgressException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotCoordinatorException;
import org.apache.kafka.common.errors.OperationNotAttemptedException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * The coordinator of one transactional id, which moves between brokers, and the link to it, which loses requests and
 * answers. It checks id, epoch and state as Kafka's does, by either version of the protocol (KIP-98, KIP-890).
 */
final class SimulatedCoordinator implements TransactionLink {
    private final SimulatedCluster cluster;
    private final Random random;
    private final BooleanSupplier fault;
    private final List<SimulatedPartition> partitions;
    private final List<Node> nodes;
    private final Queue<Runnable> answers;
    private final boolean explicit;
    private final Set<Integer> added = new HashSet<>();
    private final Map<TopicPartition, OffsetAndMetadata> pendingOffsets = new HashMap<>();

    /** What consumers of the group would start from. */
    final Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();

    /** Whether partitions can be added at all. */
    boolean knowsTopics = true;

    /** What is lost of the next request to add partitions. */
    Loss nextLoss = Loss.NONE;

    enum Loss {
        NONE,
        REQUEST,
        ANSWER
    }

    /** Whether a producer may ask for its next epoch; coordinators before Kafka 2.5 do not understand that. */
    boolean givesNewEpochs = true;

    private Node leader;
    private ProducerId current = ProducerId.UNKNOWN;
    private boolean ongoing;
    private boolean groupAdded;
    private Boolean lastEnd;

    SimulatedCoordinator(
            SimulatedCluster cluster,
            Random random,
            BooleanSupplier fault,
            List<SimulatedPartition> partitions,
            List<Node> nodes,
            Queue<Runnable> answers,
            boolean explicit) {
        this.cluster = cluster;
        this.random = random;
        this.fault = fault;
        this.partitions = partitions;
        this.nodes = nodes;
        this.answers = answers;
        this.explicit = explicit;
        this.leader = nodes.get(0);
    }

    /** What a partition's leader asks before it appends: null if the batch may be written. */
    ApiException check(int partition, RecordBatch batch) {
        if (!batch.isTransactional()) {
            return new InvalidTxnStateException("not in a transaction");
        }
        if (batch.producerId() != current.id() || batch.producerEpoch() != current.epoch()) {
            return new InvalidProducerEpochException("of another epoch");
        }
        if (explicit) {
            return added.contains(partition) ? null : new InvalidTxnStateException("not added");
        }
        if (fault.getAsBoolean() && random.nextBoolean()) {
            return new ConcurrentTransactionsException("the last one is not quite over");
        }
        ongoing = true;
        added.add(partition);
        return null;
    }

    /** Whether a transaction is open. */
    boolean isOngoing() {
        return ongoing;
    }

    /** The epoch that it expects next. */
    short epoch() {
        return current.epoch();
    }

    // ---- what the coordinator does ----

    private ProducerId init(ProducerId known) {
        if (!known.isKnown()) {
            if (ongoing) {
                finish(false);
            }
            current = current.isKnown() ? current.bumped() : new ProducerId(5000, (short) 0);
        } else if (!givesNewEpochs) {
            throw new UnsupportedVersionException("no version of the request has a field for the id");
        } else if (ongoing) {
            finish(false);
            current = current.bumped();
            throw new ProducerFencedException("who asks for an epoch in a transaction is fenced");
        } else if (known.equals(current)) {
            current = current.bumped();
        } else if (!known.bumped().equals(current)) { // else it was done, and the answer lost
            throw new ProducerFencedException("of another epoch");
        }
        return current;
    }

    private ProducerId end(ProducerId id, boolean commit) {
        if (!explicit && id.bumped().equals(current) && Boolean.valueOf(commit).equals(lastEnd)) {
            return current; // it was done, and the answer lost
        }
        checkId(id);
        if (!ongoing && explicit && Boolean.valueOf(commit).equals(lastEnd)) {
            return current;
        }
        if (!ongoing && (explicit || commit)) {
            throw new InvalidTxnStateException("there is no transaction to end");
        }
        finish(commit);
        if (!explicit) {
            current = current.bumped();
        }
        return current;
    }

    private void finish(boolean commit) {
        short epoch = explicit ? current.epoch() : current.bumped().epoch();
        added.forEach(partition -> partitions.get(partition).end(commit, epoch));
        added.clear();
        if (commit) {
            offsets.putAll(pendingOffsets);
        }
        pendingOffsets.clear();
        groupAdded = false;
        ongoing = false;
        lastEnd = commit;
    }

    private void checkId(ProducerId id) {
        if (!id.isSameEpochAs(current)) {
            throw new ProducerFencedException("of another epoch");
        }
    }

    // ---- the link ----

    @Override
    public boolean chooseProtocol() {
        return explicit;
    }

    /** The broker that it is now. */
    int node() {
        return leader.id();
    }

    @Override
    public boolean isUnreachable(Node node) {
        return fault.getAsBoolean();
    }

    @Override
    public void findCoordinator(Node any, String groupOrNull, Handler<Node> handler, long nowMs) {
        ask(null, handler, () -> leader);
    }

    @Override
    public void initProducerId(Node coordinator, ProducerId known, Handler<ProducerId> handler, long nowMs) {
        ask(coordinator, handler, () -> init(known));
    }

    @Override
    public void addPartitions(
            Node coordinator,
            ProducerId id,
            Collection<TopicPartition> names,
            Handler<Map<TopicPartition, ApiException>> handler,
            long nowMs) {
        List<TopicPartition> copy = List.copyOf(names);
        Loss loss = nextLoss;
        nextLoss = Loss.NONE;
        ask(coordinator, handler, () -> {
            checkId(id);
            if (loss != Loss.NONE) {
                ongoing |= loss == Loss.ANSWER;
                throw new NetworkException(loss + " lost");
            }
            if (!knowsTopics || fault.getAsBoolean()) {
                return refusedForOne(copy);
            }
            ongoing = true;
            copy.forEach(name -> added.add(name.partition()));
            return Map.of();
        });
    }

    /** The broker has not heard of a topic yet, and does not try the others then. */
    private static Map<TopicPartition, ApiException> refusedForOne(List<TopicPartition> names) {
        Map<TopicPartition, ApiException> refused = new HashMap<>();
        names.forEach(name -> refused.put(
                name,
                refused.isEmpty()
                        ? new UnknownTopicOrPartitionException("not yet")
                        : new OperationNotAttemptedException("for the other")));
        return refused;
    }

    @Override
    public void addOffsets(Node coordinator, ProducerId id, String group, Handler<Void> handler, long nowMs) {
        ask(coordinator, handler, () -> {
            checkId(id);
            ongoing = true;
            groupAdded = true;
            return null;
        });
    }

    @Override
    public void commitOffsets(
            Node groupCoordinator,
            ProducerId id,
            Map<TopicPartition, OffsetAndMetadata> given,
            ConsumerGroupMetadata group,
            Handler<Map<TopicPartition, ApiException>> handler,
            long nowMs) {
        Map<TopicPartition, OffsetAndMetadata> copy = Map.copyOf(given);
        ask(groupCoordinator, handler, () -> {
            checkId(id);
            if (explicit && !groupAdded) {
                throw new InvalidTxnStateException("group not added");
            }
            ongoing = true;
            pendingOffsets.putAll(copy);
            return Map.of();
        });
    }

    @Override
    public void end(Node coordinator, ProducerId id, boolean commit, Handler<ProducerId> handler, long nowMs) {
        ask(coordinator, handler, () -> end(id, commit));
    }

    private <T> void ask(Node node, Handler<T> handler, Supplier<T> action) {
        cluster.note("ask coordinator", node, current, ongoing, added);
        if (fault.getAsBoolean() && random.nextInt(4) == 0) {
            leader = nodes.get(random.nextInt(nodes.size()));
        }
        if (fault.getAsBoolean() && random.nextBoolean()) {
            answers.add(() -> handler.onAnswer(null, new NetworkException("request lost")));
            return;
        }
        if (node != null && !node.equals(leader)) {
            answers.add(() -> handler.onAnswer(null, new NotCoordinatorException("moved")));
            return;
        }
        if (fault.getAsBoolean() && random.nextBoolean()) {
            answers.add(() -> handler.onAnswer(null, new CoordinatorLoadInProgressException("loading")));
            return;
        }
        T answer = null;
        KafkaException error = null;
        try {
            answer = action.get();
        } catch (KafkaException e) {
            error = e;
        }
        if (fault.getAsBoolean() && random.nextBoolean()) {
            answers.add(() -> handler.onAnswer(null, new NetworkException("answer lost")));
            return;
        }
        T told = answer;
        KafkaException toldError = error;
        answers.add(() -> handler.onAnswer(told, toldError));
    }
}
