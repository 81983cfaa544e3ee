package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.SimulatedTopic.Described;
import dev.millrace.client.io.SimulatedTopic.Result;
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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * A cluster and its network in one thread, on a virtual clock: brokers check sequences as Kafka's do, connections break
 * before or after a request was carried out, leaders move or fail, metadata is stale. All chance comes from one seed.
 * It also watches the producer: no buffer that is in flight changes, and no partition has too much in flight.
 */
final class SimulatedCluster implements BrokerLink {
    static final String TOPIC = "t";
    private static final int MAX_IN_FLIGHT = 5;
    private static final int REQUEST_TIMEOUT_MS = 2_000;

    final SimulatedTopic topic;
    private final Random random;
    private final double faultRate;
    private final List<Node> nodes = List.of(new Node(1, "h", 1), new Node(2, "h", 2), new Node(3, "h", 3));
    private final Map<Integer, ArrayDeque<Request>> connections = new HashMap<>();
    private final ArrayDeque<Runnable> answers = new ArrayDeque<>();
    private final ArrayDeque<LateBatch> late;
    private final AtomicLong clock;
    private final List<String> violations = new ArrayList<>();
    private final Map<TopicPartition, Integer> inFlight = new HashMap<>();
    private long nextProducerId = 1000;
    private short firstEpoch;
    private boolean gapsAreMistakes;
    private int maxInFlight = MAX_IN_FLIGHT;
    private boolean lateRequests;
    private boolean refusesQuestions;
    private boolean silent;
    private boolean faultsOver;
    private SimulatedTransactionLink transactions;
    private ObjIntConsumer<AuthenticationException> onDisconnect = (refusal, node) -> {};
    private List<String> traceOrNull;

    SimulatedCluster(Random random, int partitionCount, double faultRate, boolean checksSequences) {
        this.random = random;
        this.faultRate = faultRate;
        nodes.forEach(node -> connections.put(node.id(), new ArrayDeque<>()));
        late = new ArrayDeque<>();
        clock = new AtomicLong(100 * SimulatedTopic.DAY_MS);
        topic = new SimulatedTopic(random, this::fault, this::nowMs, partitionCount, checksSequences);
    }

    private SimulatedCluster(SimulatedCluster same) {
        random = same.random;
        faultRate = same.faultRate;
        nodes.forEach(node -> connections.put(node.id(), new ArrayDeque<>()));
        late = same.late;
        clock = same.clock;
        topic = same.topic;
        lateRequests = same.lateRequests;
        traceOrNull = same.traceOrNull;
        transactions = new SimulatedTransactionLink(this, same.transactions.coordinator, answers);
        transactions.carriesOutLate = lateRequests;
    }

    /** The same cluster, as another client with connections of its own sees it. */
    SimulatedCluster ofAnotherClient() {
        return new SimulatedCluster(this);
    }

    long nowMs() {
        return clock.get();
    }

    /** What happens from now on, as it happens: the same in two runs only if they are the same to the last byte. */
    List<String> trace() {
        traceOrNull = new ArrayList<>();
        return traceOrNull;
    }

    void note(String what, Object... details) {
        if (traceOrNull != null) {
            traceOrNull.add(nowMs() + " " + what + " " + Arrays.toString(details));
        }
    }

    /** Batches must be in transactions from now on, of a coordinator with this version of the protocol. */
    SimulatedTransactionLink withTransactions(boolean explicit) {
        SimulatedCoordinator coordinator = new SimulatedCoordinator(this, random, explicit);
        transactions = new SimulatedTransactionLink(this, coordinator, answers);
        topic.coordinator(coordinator);
        return transactions;
    }

    /** From here on everything works, so that what is still on its way can arrive. */
    void endFaults() {
        faultsOver = true;
    }

    boolean fault() {
        return !faultsOver && random.nextDouble() < faultRate;
    }

    List<Node> nodes() {
        return nodes;
    }

    Random random() {
        return random;
    }

    /** While silent, brokers do nothing with produce requests. */
    void silent(boolean isSilent) {
        silent = isSilent;
    }

    /** From here on a broker may carry out a request after its connection has broken. */
    void carryOutLate() {
        lateRequests = true;
        if (transactions != null) {
            transactions.carriesOutLate = true;
        }
    }

    /** No broker tells what it remembers of producers, as if this one may not read. */
    void refuseQuestions() {
        refusesQuestions = true;
    }

    /** Nothing happens for so long. */
    void passTime(long ms) {
        clock.addAndGet(ms);
    }

    /** Producer ids come with this epoch; after the highest one another id is needed. */
    void firstEpoch(short epoch) {
        firstEpoch = epoch;
    }

    /**
     * The producer must leave no gap in the sequences: a batch that is sent for the first time, with nothing else in
     * flight, must have the one that its leader expects.
     */
    void objectToGaps() {
        gapsAreMistakes = true;
    }

    /** The producer was told to have no more batches of a partition in flight. */
    void expectInFlight(int batches) {
        maxInFlight = batches;
    }

    /** What the producer did that it must not do. */
    List<String> violations() {
        return violations;
    }

    // ---- what a broker does ----

    /** The bytes as they are now: a buffer reused while in flight would be found out here. */
    private RecordBatch parse(FinishedBatch batch) {
        if (batch.buffer() == null) {
            throw new AssertionError("The memory of a batch for " + batch.partition() + " was given back in flight");
        }
        return parse(Arrays.copyOf(batch.buffer(), batch.size()));
    }

    private static RecordBatch parse(byte[] bytes) {
        RecordBatch parsed = MemoryRecords.readableRecords(ByteBuffer.wrap(bytes))
                .batches()
                .iterator()
                .next();
        parsed.ensureValid();
        return parsed;
    }

    private void serve(Request request) {
        request.results = new ArrayList<>();
        for (FinishedBatch batch : request.batches) {
            request.results.add(
                    topic.append(request.topicId, request.node, batch.partition(), parse(batch), batch.size()));
        }
    }

    private void answer(Request request) {
        List<ProduceAnswer> answers = new ArrayList<>();
        List<LeaderHint> hints = new ArrayList<>();
        for (int i = 0; i < request.results.size(); i++) {
            FinishedBatch batch = request.batches.get(i);
            answers.add(topic.answer(batch, request.results.get(i)));
            if (answers.get(i).error() instanceof NotLeaderOrFollowerException && random.nextBoolean()) {
                hints.add(topic.hint(batch.partition().partition()));
            }
            if (answers.get(i).error() instanceof OutOfOrderSequenceException && request.isExpected(batch)) {
                violations.add(batch.partition() + " was sent a batch although a gap was before it");
            }
        }
        request.answer = () -> {
            end(request);
            note("answer", answers.stream().map(SimulatedCluster::describe).toList());
            request.handler.onAnswers(answers, hints, List.of());
        };
    }

    private static String describe(ProduceAnswer answer) {
        return answer.batch().partition() + " at " + answer.baseOffset() + " " + answer.error();
    }

    private void end(Request request) {
        request.batches.forEach(batch -> inFlight.merge(batch.partition(), -1, Integer::sum));
    }

    /** The topic is deleted, and created with the same name; one broker is restarted. */
    void createTopicAnew() {
        topic.createTopicAnew();
        note("create anew", topic.id());
        disconnect(1 + random.nextInt(3));
    }

    private void serveLate() {
        if (transactions != null) {
            transactions.serveLate();
        }
        LateBatch batch = late.poll();
        if (batch != null) {
            topic.append(batch.topicId, batch.node, batch.partition, parse(batch.bytes), batch.bytes.length);
        }
    }

    /** A broker refuses the next login. */
    void refuseLogin(int node) {
        onDisconnect.accept(new SaslAuthenticationException("no such user"), node);
    }

    private void disconnect(int node) {
        note("disconnect", node);
        ArrayDeque<Request> lost = connections.get(node);
        List<Request> requests = new ArrayList<>(lost);
        lost.clear();
        onDisconnect.accept(null, node);
        for (Request request : requests) {
            perhapsCarryOutLate(request);
            end(request);
            List<ProduceAnswer> result = new ArrayList<>();
            request.batches.forEach(b -> result.add(new ProduceAnswer(b, new NetworkException("lost"), -1, -1)));
            request.handler.onAnswers(result, List.of(), List.of());
        }
    }

    private void perhapsCarryOutLate(Request request) {
        if (lateRequests && request.results == null && random.nextBoolean()) {
            request.batches.forEach(b -> late.add(
                    new LateBatch(request.topicId, request.node, b.partition(), Arrays.copyOf(b.buffer(), b.size()))));
        }
    }

    // ---- the link ----

    @Override
    public void poll(long timeoutMs, long nowMs) {
        int steps = random.nextInt(4);
        for (int i = 0; i < steps; i++) {
            step(1 + random.nextInt(3));
        }
        if (random.nextInt(3) == 0) {
            serveLate();
        }
        if (fault() && random.nextInt(4) == 0) {
            note("move leader", topic.moveSomeLeader());
        }
        int restarted = topic.passTime();
        if (restarted >= 0) {
            disconnect(restarted);
        }
        for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
            answer.run();
        }
        if (transactions != null) {
            transactions.coordinator.step();
        }
        clock.addAndGet(timeoutMs == 0 ? random.nextInt(2) : 1 + random.nextInt((int) Math.min(timeoutMs, 50)));
    }

    /** One broker gets a little further with the oldest request of its connection. */
    private void step(int node) {
        Request oldest = connections.get(node).peek();
        if (oldest == null || silent) {
            return;
        }
        boolean broken = fault() && random.nextInt(3) == 0;
        if (oldest.results == null && !broken) {
            serve(oldest);
        } else if (oldest.answer == null && !broken) {
            answer(oldest);
        } else if (broken || nowMs() - oldest.sentMs > REQUEST_TIMEOUT_MS) {
            disconnect(node);
        } else {
            connections.get(node).poll();
            oldest.answer.run();
        }
    }

    @Override
    public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {
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
        Request request = new Request(node.id(), image.topic(TOPIC).id(), batches, handler, nowMs);
        for (FinishedBatch batch : batches) {
            RecordBatch parsed = parse(batch);
            note("produce", node.id(), batch.partition(), batch.attempts(), parsed);
            check(node.id(), batch, parsed);
            if (gapsAreMistakes && batch.attempts() == 1 && inFlight.get(batch.partition()) == 1) {
                request.expected.add(batch);
            }
        }
        connections.get(node.id()).add(request);
    }

    private void check(int node, FinishedBatch batch, RecordBatch parsed) {
        if (inFlight.merge(batch.partition(), 1, Integer::sum) > maxInFlight) {
            violations.add("more than " + maxInFlight + " batches of " + batch.partition() + " in flight");
        }
        for (ArrayDeque<Request> connection : connections.values()) {
            for (Request other : connection) {
                FinishedBatch earlier = other.batchOfOrNull(batch.partition());
                if (earlier != null) {
                    checkBeside(earlier, other.node, batch, node);
                }
            }
        }
        if (parsed.hasProducerId() && parsed.baseSequence() < 0) {
            violations.add(batch.partition() + " has the sequence " + parsed.baseSequence());
        }
    }

    private void checkBeside(FinishedBatch earlier, int itsNode, FinishedBatch batch, int node) {
        if (itsNode != node) {
            violations.add("batches of " + batch.partition() + " in flight to two brokers");
        }
        if (gapsAreMistakes && earlier.isDecided() && batch.attempts() == 1) {
            violations.add(batch.partition() + " was sent a new batch while an expired one was in flight");
        }
    }

    @Override
    public void describeProducers(Node leader, List<ProducerQuestion> questions, ProducersHandler handler, long nowMs) {
        note("describe producers", leader.id(), questions);
        boolean lost = fault() && random.nextInt(3) == 0;
        List<ProducerMemory> told = new ArrayList<>();
        for (ProducerQuestion question : questions) {
            ProducerMemory memory =
                    topic.describeProducer(leader.id(), question.partition().partition(), question.producerId());
            told.add(
                    lost
                            ? ProducerMemory.without(ProducerMemory.Kind.UNANSWERED)
                            : refusesQuestions ? ProducerMemory.without(ProducerMemory.Kind.REFUSED) : memory);
        }
        answers.add(() -> {
            note("producers", told);
            handler.onAnswers(told, lost ? OptionalLong.empty() : OptionalLong.of(topic.expirationMs()));
        });
    }

    @Override
    public void initProducerId(Node node, ProducerIdHandler handler, long nowMs) {
        note("init producer id", node.id());
        if (fault()) {
            answers.add(() -> handler.onError(new NetworkException("lost")));
        } else {
            long id = nextProducerId++;
            answers.add(() -> handler.onProducerId(id, firstEpoch));
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
        Described said = fault() ? topic.stale() : topic.describe();
        if (fault() && random.nextInt(3) == 0) { // a broker that does not know the topic yet
            Map<String, ApiException> errors = Map.of(TOPIC, new UnknownTopicOrPartitionException("simulated"));
            answers.add(() -> handler.onMetadata(new ClusterDelta("c", nodes, List.of(), errors, complete)));
            return;
        }
        int[][] nobody = new int[said.leaders().length][0];
        Replicas replicas = new Replicas(nobody, nobody, nobody);
        TopicImage described = new TopicImage(TOPIC, said.id(), said.leaders(), said.epochs(), replicas);
        answers.add(() -> handler.onMetadata(new ClusterDelta("c", nodes, List.of(described), Map.of(), complete)));
    }

    @Override
    public Optional<TransactionLink> transactions() {
        return Optional.ofNullable(transactions);
    }

    @Override
    public int inFlightRequests(int node) {
        return node < 0 ? 0 : connections.get(node).size();
    }

    @Override
    public void wakeup() {}

    @Override
    public void close() {
        for (ArrayDeque<Request> connection : connections.values()) {
            connection.forEach(this::perhapsCarryOutLate);
            connection.clear();
        }
    }

    /** A request of a connection that has broken since. */
    private record LateBatch(Uuid topicId, int node, TopicPartition partition, byte[] bytes) {}

    private static final class Request {
        private final int node;
        private final Uuid topicId;
        private final List<FinishedBatch> batches;
        private final ProduceHandler handler;
        private final long sentMs;

        /** Those that must not be refused for their sequence. */
        private final Set<FinishedBatch> expected = new HashSet<>();

        private List<Result> results;
        private Runnable answer;

        Request(int node, Uuid topicId, List<FinishedBatch> batches, ProduceHandler handler, long sentMs) {
            this.node = node;
            this.topicId = topicId;
            this.batches = batches;
            this.handler = handler;
            this.sentMs = sentMs;
        }

        boolean isExpected(FinishedBatch batch) {
            return expected.contains(batch);
        }

        FinishedBatch batchOfOrNull(TopicPartition partition) {
            for (FinishedBatch batch : batches) {
                if (batch.partition().equals(partition)) {
                    return batch;
                }
            }
            return null;
        }
    }
}
