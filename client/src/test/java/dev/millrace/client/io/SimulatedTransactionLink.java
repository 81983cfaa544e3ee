package dev.millrace.client.io;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.CoordinatorLoadInProgressException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotCoordinatorException;
import org.apache.kafka.common.errors.OperationNotAttemptedException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * A client's way to the {@link SimulatedCoordinator}, which moves between brokers. Requests and answers are lost, and
 * with the newer protocol lost requests may be carried out late. (With the older one that would be an end of, or an
 * addition to, the next transaction, which has the same epoch; no producer can do anything about it.)
 */
final class SimulatedTransactionLink implements TransactionLink {
    final SimulatedCoordinator coordinator;
    private final SimulatedCluster cluster;
    private final Random random;
    private final Queue<Runnable> answers;
    private final Queue<Runnable> late = new ArrayDeque<>();
    private Node leader;

    /** Whether partitions can be added at all. */
    boolean knowsTopics = true;

    /** What is lost of the next request to add partitions. */
    Loss nextLoss = Loss.NONE;

    /** Whether lost requests may be carried out later. */
    boolean carriesOutLate;

    enum Loss {
        NONE,
        REQUEST,
        ANSWER
    }

    SimulatedTransactionLink(SimulatedCluster cluster, SimulatedCoordinator coordinator, Queue<Runnable> answers) {
        this.cluster = cluster;
        this.coordinator = coordinator;
        this.random = cluster.random();
        this.answers = answers;
        this.leader = cluster.nodes().get(0);
    }

    /** The broker on which the coordinator is now. */
    int node() {
        return leader.id();
    }

    @Override
    public boolean chooseProtocol() {
        return coordinator.isExplicit();
    }

    @Override
    public boolean isUnreachable(Node node) {
        return cluster.fault();
    }

    @Override
    public void findCoordinator(Node any, String groupOrNull, Handler<Node> handler, long nowMs) {
        ask(null, handler, () -> leader, false);
    }

    @Override
    public void initProducerId(Node node, ProducerId known, Handler<ProducerId> handler, long nowMs) {
        ask(node, handler, () -> coordinator.init(known), false);
    }

    @Override
    public void addPartitions(
            Node node,
            ProducerId id,
            Collection<TopicPartition> names,
            Handler<Map<TopicPartition, ApiException>> handler,
            long nowMs) {
        List<TopicPartition> copy = List.copyOf(names);
        Loss loss = nextLoss;
        nextLoss = Loss.NONE;
        ask(node, handler, () -> addOrRefuse(id, copy, loss), false);
    }

    private Map<TopicPartition, ApiException> addOrRefuse(ProducerId id, List<TopicPartition> names, Loss loss) {
        if (loss == Loss.REQUEST) {
            throw new NetworkException("request lost");
        }
        if (loss == Loss.NONE && (!knowsTopics || cluster.fault())) {
            coordinator.addNothingOf(id);
            return refusedForOne(names);
        }
        coordinator.addAll(id, names.stream().map(TopicPartition::partition).toList());
        if (loss == Loss.ANSWER) {
            throw new NetworkException("answer lost");
        }
        return Map.of();
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
    public void addOffsets(Node node, ProducerId id, String group, Handler<Void> handler, long nowMs) {
        ask(
                node,
                handler,
                () -> {
                    coordinator.addGroup(id);
                    return null;
                },
                false);
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
        ask(
                groupCoordinator,
                handler,
                () -> {
                    coordinator.commitOffsets(id, copy);
                    return Map.of();
                },
                !coordinator.isExplicit());
    }

    @Override
    public void end(Node node, ProducerId id, boolean commit, Handler<ProducerId> handler, long nowMs) {
        boolean givesEpoch = !coordinator.isExplicit();
        ask(
                node,
                handler,
                () -> {
                    ProducerId next = coordinator.end(id, commit);
                    return givesEpoch ? next : id;
                },
                givesEpoch);
    }

    private <T> void ask(Node node, Handler<T> handler, Supplier<T> action, boolean mayBeLate) {
        cluster.note("ask coordinator", node, coordinator.epoch(), coordinator.isOngoing());
        if (cluster.fault() && random.nextInt(4) == 0) {
            leader = cluster.nodes().get(random.nextInt(cluster.nodes().size()));
        }
        if (cluster.fault() && random.nextBoolean()) {
            if (carriesOutLate && mayBeLate) {
                late.add(() -> tryAction(action));
            }
            answers.add(() -> handler.onAnswer(null, new NetworkException("request lost")));
            return;
        }
        if (node != null && !node.equals(leader)) {
            answers.add(() -> handler.onAnswer(null, new NotCoordinatorException("moved")));
            return;
        }
        if (cluster.fault() && random.nextBoolean()) {
            answers.add(() -> handler.onAnswer(null, new CoordinatorLoadInProgressException("loading")));
            return;
        }
        Answer<T> answer = tryAction(action);
        if (cluster.fault() && random.nextBoolean()) {
            answers.add(() -> handler.onAnswer(null, new NetworkException("answer lost")));
            return;
        }
        answers.add(() -> handler.onAnswer(answer.value, answer.error));
    }

    private static <T> Answer<T> tryAction(Supplier<T> action) {
        try {
            return new Answer<>(action.get(), null);
        } catch (KafkaException e) {
            return new Answer<>(null, e);
        }
    }

    /** Carries out a request that its sender believes lost. */
    void serveLate() {
        Runnable request = late.poll();
        if (request != null) {
            request.run();
        }
    }

    private record Answer<T>(T value, KafkaException error) {}
}
