package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.kafka.common.record.internal.MemoryRecords;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * A cluster and its network in one thread, on a virtual clock: brokers check sequences as Kafka's do, connections break
 * before or after a request was carried out, leaders move, metadata is stale. All chance comes from one seed.
 */
final class SimulatedCluster implements BrokerLink {
    static final String TOPIC = "t";
    private static final int MAX_IN_FLIGHT = 5;
    private static final int REQUEST_TIMEOUT_MS = 2_000;

    private final Random random;
    private final double faultRate;
    private final boolean checksSequences;
    private final List<Node> nodes = List.of(new Node(1, "h", 1), new Node(2, "h", 2), new Node(3, "h", 3));
    private final Map<Integer, ArrayDeque<Request>> connections = new HashMap<>();
    private final List<SimulatedPartition> partitions = new ArrayList<>();
    private final ArrayDeque<Runnable> answers = new ArrayDeque<>();
    private int[] staleLeaders;
    private int[] staleEpochs;
    private long nextProducerId = 1000;
    private long clockMs = 1_000_000;
    private int maxMessageBytes = Integer.MAX_VALUE;
    private double refusalRate;
    private boolean silent;
    private boolean faultsOver;
    private boolean lying;
    private SimulatedCoordinator coordinator;
    private Consumer<AuthenticationException> onDisconnect = refusal -> {};
    private List<String> traceOrNull;

    SimulatedCluster(Random random, int partitionCount, double faultRate, boolean checksSequences) {
        this.random = random;
        this.faultRate = faultRate;
        this.checksSequences = checksSequences;
        nodes.forEach(node -> connections.put(node.id(), new ArrayDeque<>()));
        for (int p = 0; p < partitionCount; p++) {
            partitions.add(new SimulatedPartition(1 + random.nextInt(3)));
        }
        rememberLeaders();
    }

    long nowMs() {
        return clockMs;
    }

    /** What happens from now on, as it happens: the same in two runs only if they are the same to the last byte. */
    List<String> trace() {
        traceOrNull = new ArrayList<>();
        return traceOrNull;
    }

    void note(String what, Object... details) {
        if (traceOrNull != null) {
            traceOrNull.add(clockMs + " " + what + " " + Arrays.toString(details));
        }
    }

    /** Batches must be in transactions from now on, of a coordinator with this version of the protocol. */
    SimulatedCoordinator withTransactions(boolean explicit) {
        coordinator = new SimulatedCoordinator(this, random, this::fault, partitions, nodes, answers, explicit);
        return coordinator;
    }

    /** What readers of committed records see of a partition. */
    List<Long> committed(int partition) {
        return partitions.get(partition).committed;
    }

    /** All partitions expect this sequence next. */
    void expect(int sequence) {
        partitions.forEach(partition -> partition.expect(sequence));
    }

    /** From here on everything works, so that what is still on its way can arrive. */
    void endFaults() {
        faultsOver = true;
    }

    /** The values in a partition's log, in the order of offsets. */
    List<Long> log(int partition) {
        return partitions.get(partition).log;
    }

    private boolean fault() {
        return !faultsOver && random.nextDouble() < faultRate;
    }

    /** From here on, brokers sometimes say that they have not written what they have. */
    void lie() {
        lying = true;
    }

    /** What the brokers find too large; it may change at any time. */
    void maxMessageBytes(int bytes) {
        maxMessageBytes = bytes;
    }

    /** From here on, brokers refuse so large a part of the batches for good, without writing them. */
    void refuse(double rate) {
        refusalRate = rate;
    }

    /** While silent, brokers do nothing with produce requests. */
    void silent(boolean isSilent) {
        silent = isSilent;
    }

    private void rememberLeaders() {
        staleLeaders = partitions.stream().mapToInt(p -> p.leader).toArray();
        staleEpochs = partitions.stream().mapToInt(p -> p.leaderEpoch).toArray();
    }

    // ---- what a broker does ----

    private ApiException append(SimulatedPartition partition, int node, FinishedBatch batch, long[] offset) {
        if (partition.leader != node) {
            return new NotLeaderOrFollowerException("moved");
        }
        if (fault() && random.nextBoolean()) {
            return new NotEnoughReplicasException("simulated");
        }
        if (batch.size() > maxMessageBytes) { // looked at before the sequence, as in Kafka
            return new RecordTooLargeException("simulated");
        }
        if (refusalRate > 0 && random.nextDouble() < refusalRate) {
            return new InvalidTimestampException("simulated");
        }
        RecordBatch parsed = parse(batch);
        if (coordinator != null) {
            ApiException notInTransaction = coordinator.check(batch.partition().partition(), parsed);
            if (notInTransaction != null) {
                return notInTransaction;
            }
        }
        ApiException refused = checksSequences ? partition.checkSequence(parsed, offset) : null;
        if (refused != null || offset[0] >= 0) {
            return refused;
        }
        offset[0] = partition.append(parsed);
        if (fault() && random.nextBoolean()) {
            return lying
                    ? new NotEnoughReplicasException("a lie: it is written")
                    : new NotEnoughReplicasAfterAppendException("simulated");
        }
        return null;
    }

    /** The bytes as they are now: a buffer reused while in flight would be found out here. */
    private static RecordBatch parse(FinishedBatch batch) {
        ByteBuffer copy = ByteBuffer.wrap(Arrays.copyOf(batch.buffer(), batch.size()));
        RecordBatch parsed =
                MemoryRecords.readableRecords(copy).batches().iterator().next();
        parsed.ensureValid();
        return parsed;
    }

    private void serve(Request request) {
        List<ProduceAnswer> result = new ArrayList<>();
        List<LeaderHint> hints = new ArrayList<>();
        for (FinishedBatch batch : request.batches) {
            int p = batch.partition().partition();
            long[] offset = {-1};
            ApiException error = append(partitions.get(p), request.node, batch, offset);
            if (error instanceof NotLeaderOrFollowerException && random.nextBoolean()) {
                hints.add(new LeaderHint(
                        TOPIC, Uuid.ONE_UUID, p, partitions.get(p).leader, partitions.get(p).leaderEpoch));
            }
            result.add(new ProduceAnswer(batch, error, error == null ? offset[0] : -1, -1));
        }
        request.answer = () -> request.handler.onAnswers(result, hints, List.of());
    }

    private void disconnect(int node) {
        note("disconnect", node);
        ArrayDeque<Request> lost = connections.get(node);
        List<Request> requests = new ArrayList<>(lost);
        lost.clear();
        onDisconnect.accept(null);
        for (Request request : requests) {
            List<ProduceAnswer> result = new ArrayList<>();
            request.batches.forEach(b -> result.add(new ProduceAnswer(b, new NetworkException("lost"), -1, -1)));
            request.handler.onAnswers(result, List.of(), List.of());
        }
    }

    private void moveSomeLeader() {
        rememberLeaders();
        SimulatedPartition partition = partitions.get(random.nextInt(partitions.size()));
        partition.leader = 1 + random.nextInt(3);
        partition.leaderEpoch++;
        note("move leader", partitions.indexOf(partition), partition.leader);
    }

    // ---- the link ----

    @Override
    public void poll(long timeoutMs, long nowMs) {
        int steps = random.nextInt(4);
        for (int i = 0; i < steps; i++) {
            step(1 + random.nextInt(3));
        }
        if (fault() && random.nextInt(4) == 0) {
            moveSomeLeader();
        }
        for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
            answer.run();
        }
        clockMs += timeoutMs == 0 ? random.nextInt(2) : 1 + random.nextInt((int) Math.min(timeoutMs, 50));
    }

    /** One broker gets a little further with the oldest request of its connection. */
    private void step(int node) {
        Request oldest = connections.get(node).peek();
        if (oldest == null || silent) {
            return;
        }
        boolean broken = fault() && random.nextInt(3) == 0;
        if (oldest.answer == null && !broken) {
            serve(oldest);
        } else if (broken || clockMs - oldest.sentMs > REQUEST_TIMEOUT_MS) {
            disconnect(node);
        } else {
            connections.get(node).poll();
            oldest.answer.run();
        }
    }

    @Override
    public void onDisconnect(Consumer<AuthenticationException> listener) {
        onDisconnect = listener;
    }

    @Override
    public boolean ready(Node node, long nowMs) {
        return node.id() < 0 || connections.get(node.id()).size() < MAX_IN_FLIGHT;
    }

    @Override
    public long pollDelayMs(Node node, long nowMs) {
        return Long.MAX_VALUE;
    }

    @Override
    public Node leastLoadedNode(long nowMs) {
        return nodes.get(random.nextInt(nodes.size()));
    }

    @Override
    public boolean canReachAny(long nowMs) {
        return true;
    }

    @Override
    public void disconnectAll() {
        connections.keySet().forEach(this::disconnect);
    }

    @Override
    public void produce(
            Node node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler, long nowMs) {
        for (FinishedBatch batch : batches) {
            note("produce", node.id(), batch.partition(), batch.attempts(), parse(batch));
        }
        connections.get(node.id()).add(new Request(node.id(), batches, handler, clockMs));
    }

    @Override
    public void initProducerId(Node node, ProducerIdHandler handler, long nowMs) {
        note("init producer id", node.id());
        if (fault()) {
            answers.add(() -> handler.onError(new NetworkException("lost")));
        } else {
            long id = nextProducerId++;
            answers.add(() -> handler.onProducerId(id, (short) 0));
        }
    }

    @Override
    public void metadata(
            Node node,
            Collection<String> topics,
            boolean mayCreate,
            boolean complete,
            MetadataHandler handler,
            long nowMs) {
        note("metadata", node.id(), topics, complete);
        int[] leaders = staleLeaders;
        int[] epochs = staleEpochs;
        if (!fault()) {
            leaders = partitions.stream().mapToInt(p -> p.leader).toArray();
            epochs = partitions.stream().mapToInt(p -> p.leaderEpoch).toArray();
        }
        if (fault() && random.nextInt(3) == 0) { // a broker that does not know the topic yet
            Map<String, ApiException> errors = Map.of(TOPIC, new UnknownTopicOrPartitionException("simulated"));
            answers.add(() -> handler.onMetadata(new ClusterDelta("c", nodes, List.of(), errors, complete)));
            return;
        }
        int[][] nobody = new int[partitions.size()][0];
        TopicImage topic = new TopicImage(TOPIC, Uuid.ONE_UUID, leaders, epochs, new Replicas(nobody, nobody, nobody));
        answers.add(() -> handler.onMetadata(new ClusterDelta("c", nodes, List.of(topic), Map.of(), complete)));
    }

    @Override
    public Optional<TransactionLink> transactions() {
        return Optional.ofNullable(coordinator);
    }

    @Override
    public int inFlightRequests(int node) {
        return node < 0 ? 0 : connections.get(node).size();
    }

    @Override
    public void wakeup() {}

    @Override
    public void close() {
        connections.values().forEach(ArrayDeque::clear);
    }

    private static final class Request {
        private final int node;
        private final List<FinishedBatch> batches;
        private final ProduceHandler handler;
        private final long sentMs;
        private Runnable answer;

        Request(int node, List<FinishedBatch> batches, ProduceHandler handler, long sentMs) {
            this.node = node;
            this.batches = batches;
            this.handler = handler;
            this.sentMs = sentMs;
        }
    }
}
