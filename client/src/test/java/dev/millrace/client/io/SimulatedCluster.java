package dev.millrace.client.io;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.io.SimulatedTopic.Result;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.ClusterImage;
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
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.SaslAuthenticationException;

/**
 * A cluster and its network in one thread, on a virtual clock: brokers check sequences as Kafka's do, connections break
 * before or after a request was carried out, leaders move or fail, metadata is stale. All chance comes from one seed.
 * It also watches the producer: no buffer that is in flight changes, and no partition has too much in flight.
 */
final class SimulatedCluster implements BrokerLink {
    static final String TOPIC = "t";
    private static final int MAX_IN_FLIGHT = 5;
    private static final int REQUEST_TIMEOUT_MS = 2_000;

    /** More than any backoff, and less than the time after which metadata is too old, which would hide a lost wake-up. */
    private static final int LONGEST_SLEEP_MS = 2_000;

    final SimulatedTopic topic;
    final SimulatedClocks clocks;
    final SimulatedNetwork network;
    final SimulatedMetadata metadata;
    private final Random random;
    private final double faultRate;
    private final List<Node> nodes = List.of(new Node(1, "h", 1), new Node(2, "h", 2), new Node(3, "h", 3));
    private final Map<Integer, ArrayDeque<SimulatedRequest>> connections = new HashMap<>();
    private final ArrayDeque<Runnable> answers = new ArrayDeque<>();
    private final ArrayDeque<SimulatedRequest.Late> late;
    private final SentBatches sent = new SentBatches(connections.values(), MAX_IN_FLIGHT);
    private long nextProducerId = 1000;
    private short firstEpoch;
    private boolean lateRequests;
    private boolean refusesQuestions;
    private boolean silent;
    private boolean jumpingClocks;
    private BooleanSupplier mustNotSleep = () -> false;
    private boolean faultsOver;
    private SimulatedTransactionLink transactions;
    private ObjIntConsumer<AuthenticationException> onDisconnect = (refusal, node) -> {};
    private List<String> traceOrNull;

    SimulatedCluster(Random random, int partitionCount, double faultRate, boolean checksSequences) {
        this.random = random;
        this.faultRate = faultRate;
        nodes.forEach(node -> connections.put(node.id(), new ArrayDeque<>()));
        late = new ArrayDeque<>();
        clocks = new SimulatedClocks();
        network = new SimulatedNetwork(random, this::fault, clocks);
        topic = new SimulatedTopic(random, this::fault, clocks::brokersMs, partitionCount, checksSequences);
        metadata = new SimulatedMetadata(this);
    }

    private SimulatedCluster(SimulatedCluster same) {
        random = same.random;
        faultRate = same.faultRate;
        nodes.forEach(node -> connections.put(node.id(), new ArrayDeque<>()));
        late = same.late;
        clocks = same.clocks;
        network = new SimulatedNetwork(random, this::fault, clocks);
        topic = same.topic;
        metadata = new SimulatedMetadata(this);
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
        return clocks.monotonicMs();
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

    /** From here on the producer's process stands still now and then, and its wall clock is set. */
    void jumpClocks() {
        jumpingClocks = true;
    }

    /** While this holds, the only I/O thread must not sleep for long unless something is under way. */
    void objectToSleepWhile(BooleanSupplier isWorkLeft) {
        mustNotSleep = isWorkLeft;
    }

    /** Nothing happens for so long. */
    void passTime(long ms) {
        clocks.pass(ms);
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
        sent.objectToGaps();
    }

    /** The producer was told to have no more batches of a partition in flight. */
    void expectInFlight(int batches) {
        sent.expectInFlight(batches);
    }

    /** What the producer did that it must not do. */
    List<String> violations() {
        return sent.violations();
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

    private void serve(SimulatedRequest request) {
        request.results = new ArrayList<>();
        for (FinishedBatch batch : request.batches) {
            request.results.add(
                    topic.append(request.topicId, request.node, batch.partition(), parse(batch), batch.size()));
        }
    }

    private void answer(SimulatedRequest request) {
        List<ProduceAnswer> answers = new ArrayList<>();
        List<LeaderHint> hints = new ArrayList<>();
        List<Runnable> acknowledgements = new ArrayList<>();
        for (int i = 0; i < request.results.size(); i++) {
            FinishedBatch batch = request.batches.get(i);
            Result result = request.results.get(i);
            ProduceAnswer answer = topic.answer(batch, result);
            answers.add(answer);
            if (answer.error() instanceof NotLeaderOrFollowerException && random.nextBoolean()) {
                hints.addAll(topic.hints(batch.partition().partition()));
            }
            sent.onAnswer(request, batch, answer.error());
            acknowledgements.add(topic.acknowledgement(answer, result));
        }
        request.answer = () -> {
            sent.onEnded(request);
            network.onAnswer(request.node);
            acknowledgements.forEach(Runnable::run);
            note("answer", answers.stream().map(SimulatedCluster::describe).toList());
            request.handler.onAnswers(answers, hints, List.of());
        };
    }

    private static String describe(ProduceAnswer answer) {
        return answer.batch().partition() + " at " + answer.baseOffset() + " " + answer.error();
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
        SimulatedRequest.Late batch = late.poll();
        if (batch != null) {
            topic.append(batch.topicId(), batch.node(), batch.partition(), parse(batch.bytes()), batch.bytes().length);
        }
    }

    /** A broker refuses the next login. */
    void refuseLogin(int node) {
        onDisconnect.accept(new SaslAuthenticationException("no such user"), node);
    }

    /** The producer's machine is suspended for days; brokers have carried out what they had received. */
    void suspend() {
        note("suspend");
        deliverAnswers();
        disconnectAll();
        while (!late.isEmpty()) {
            serveLate();
        }
        clocks.suspend(random.nextLong(2 * topic.expirationMs()));
    }

    private void disconnect(int node) {
        note("disconnect", node);
        ArrayDeque<SimulatedRequest> lost = connections.get(node);
        List<SimulatedRequest> requests = new ArrayList<>(lost);
        lost.clear();
        onDisconnect.accept(null, node);
        for (SimulatedRequest request : requests) {
            perhapsCarryOutLate(request);
            sent.onEnded(request);
            List<ProduceAnswer> result = new ArrayList<>();
            request.batches.forEach(b -> result.add(new ProduceAnswer(b, new NetworkException("lost"), -1, -1)));
            request.handler.onAnswers(result, List.of(), List.of());
        }
    }

    private void perhapsCarryOutLate(SimulatedRequest request) {
        if (lateRequests && request.results == null && random.nextBoolean()) {
            request.batches.forEach(b -> late.add(new SimulatedRequest.Late(
                    request.topicId, request.node, b.partition(), Arrays.copyOf(b.buffer(), b.size()))));
        }
    }

    // ---- the link ----

    @Override
    public void poll(long timeoutMs, long nowMs) {
        if (timeoutMs > LONGEST_SLEEP_MS && isNothingUnderWay() && mustNotSleep.getAsBoolean()) {
            sent.violations().add("the I/O thread sleeps for " + timeoutMs + " ms, and nothing is under way");
        }
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
        if (network.failsNow()) {
            note("unreachable");
            disconnectAll();
        }
        metadata.deliverDue();
        deliverAnswers();
        if (transactions != null) {
            transactions.coordinator.step();
        }
        if (jumpingClocks && fault() && random.nextInt(20) == 0) {
            clocks.jump(random);
        }
        clocks.pass(timeoutMs == 0 ? random.nextInt(2) : 1 + random.nextInt((int) Math.min(timeoutMs, 50)));
    }

    private void deliverAnswers() {
        for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
            answer.run();
        }
    }

    private boolean isNothingUnderWay() {
        return !metadata.isPending()
                && answers.isEmpty()
                && connections.values().stream().allMatch(ArrayDeque::isEmpty);
    }

    /** One broker gets a little further with the oldest request of its connection. */
    private void step(int node) {
        SimulatedRequest oldest = connections.get(node).peek();
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
        return network.isReady(node.id())
                && (node.id() < 0 || connections.get(node.id()).size() < MAX_IN_FLIGHT);
    }

    @Override
    public long pollDelayMs(Node node, long nowMs) {
        return network.delayMs(node.id());
    }

    @Override
    public Node leastLoadedNode(long nowMs) {
        return network.leastLoadedOrNull(nodes);
    }

    @Override
    public boolean canReachAny(long nowMs) {
        return network.isReachable();
    }

    @Override
    public void disconnectAll() {
        connections.keySet().forEach(this::disconnect);
    }

    @Override
    public void produce(
            Node node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler, long nowMs) {
        SimulatedRequest request =
                new SimulatedRequest(node.id(), image.topic(TOPIC).id(), batches, handler, nowMs);
        for (FinishedBatch batch : batches) {
            RecordBatch parsed = parse(batch);
            note("produce", node.id(), batch.partition(), batch.attempts(), parsed);
            sent.onSent(request, batch, parsed);
        }
        connections.get(node.id()).add(request);
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
        metadata.ask(complete, handler);
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
        for (ArrayDeque<SimulatedRequest> connection : connections.values()) {
            connection.forEach(this::perhapsCarryOutLate);
            connection.clear();
        }
    }
}
