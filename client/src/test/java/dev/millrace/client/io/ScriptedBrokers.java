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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import java.util.stream.Collectors;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Two brokers that do what a test says: produce requests wait until the test answers them; metadata and producer ids
 * are given at once. The clock moves when the test moves it.
 */
final class ScriptedBrokers implements BrokerLink {
    private final List<Node> nodes = List.of(new Node(1, "h", 1), new Node(2, "h", 2));
    private final ArrayDeque<Runnable> immediate = new ArrayDeque<>();
    private final List<Request> pending = new ArrayList<>();
    private final int[] leaders;
    private final int[] epochs;
    private long nextOffset;

    /** Topics that are missing in metadata at the moment. */
    final Set<String> missing = new HashSet<>();

    /** How many topics were requested so far, counting each request. */
    long topicsAskedFor;

    /** Part of every topic id: another value means that all topics were created again. */
    long incarnation = 1;

    /** What each {@link #poll} was allowed to wait, milliseconds. */
    final List<Long> waits = new ArrayList<>();

    /** Requests that a connection accepts before the next answer. */
    int maxInFlight = 5;

    /** Why no producer id is given at the moment, or null. */
    ApiException idRefusal;

    /** What brokers say that they remember of the producer. */
    ProducerMemory memory = ProducerMemory.without(ProducerMemory.Kind.FORGOTTEN);

    /** For how long they say that they do. */
    OptionalLong expirationMs = OptionalLong.of(86_400_000);

    /** What they were asked of producers so far. */
    final List<ProducerQuestion> asked = new ArrayList<>();

    /** Whether brokers can be connected to. */
    boolean reachable = true;

    /** Runs in each {@link #poll}. */
    Runnable onPoll = () -> {};

    long nowMs = 1_000_000;

    ScriptedBrokers(int partitions) {
        leaders = new int[partitions];
        epochs = new int[partitions];
        Arrays.fill(leaders, 1);
    }

    /** Another broker leads the partition from now on; {@link MetadataRefresh} learns that from its next request. */
    void moveLeader(int partition, int node) {
        leaders[partition] = node;
        epochs[partition]++;
    }

    /** Requests that the test has not answered yet, in the order of sending. */
    List<Request> pending() {
        return List.copyOf(pending);
    }

    /** One batch as it was in the request. */
    record Sent(
            int partition, long producerId, short epoch, int sequence, int count, FinishedBatch batch, byte[] bytes) {
        private static Sent of(FinishedBatch batch) {
            byte[] bytes = Arrays.copyOf(batch.buffer(), batch.size());
            RecordBatch parsed = MemoryRecords.readableRecords(ByteBuffer.wrap(bytes))
                    .batches()
                    .iterator()
                    .next();
            parsed.ensureValid();
            return new Sent(
                    batch.partition().partition(),
                    parsed.producerId(),
                    parsed.producerEpoch(),
                    parsed.baseSequence(),
                    batch.count(),
                    batch,
                    bytes);
        }

        /** As {@code partition:epoch:sequence}. */
        @Override
        public String toString() {
            return partition + ":" + epoch + ":" + sequence;
        }
    }

    /** A produce request without an answer. */
    final class Request {
        final int node;
        final List<Sent> batches;
        final ClusterImage image;
        private final ProduceHandler handler;

        private Request(int node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler) {
            this.node = node;
            this.image = image;
            this.batches = batches.stream().map(Sent::of).toList();
            this.handler = handler;
        }

        void accept() {
            answer(null, List.of());
        }

        /** With the leaders that the broker names in its answer, if any. */
        void refuse(ApiException error, LeaderHint... leaders) {
            answer(error, List.of(leaders));
        }

        private void answer(ApiException error, List<LeaderHint> leaders) {
            pending.remove(this);
            List<ProduceAnswer> answers = new ArrayList<>();
            for (Sent sent : batches) {
                long offset = error == null ? nextOffset : -1;
                nextOffset += error == null ? sent.count : 0;
                answers.add(new ProduceAnswer(sent.batch, error, offset, -1));
            }
            handler.onAnswers(answers, leaders, List.of());
        }

        @Override
        public String toString() {
            return node + " <- " + batches;
        }
    }

    @Override
    public void produce(Node node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler, long atMs) {
        pending.add(new Request(node.id(), batches, image, handler));
    }

    @Override
    public void describeProducers(Node leader, List<ProducerQuestion> questions, ProducersHandler handler, long atMs) {
        asked.addAll(questions);
        List<ProducerMemory> answers = questions.stream().map(q -> memory).toList();
        immediate.add(() -> handler.onAnswers(answers, expirationMs));
    }

    @Override
    public void initProducerId(Node node, ProducerIdHandler handler, long atMs) {
        ApiException refusal = idRefusal;
        immediate.add(refusal == null ? () -> handler.onProducerId(1000, (short) 0) : () -> handler.onError(refusal));
    }

    @Override
    public void metadata(
            Node node,
            Collection<String> topics,
            boolean mayCreate,
            boolean complete,
            MetadataHandler handler,
            long atMs) {
        topicsAskedFor += topics.size();
        List<TopicImage> known = topics.stream()
                .filter(t -> !missing.contains(t))
                .map(this::image)
                .toList();
        Map<String, ApiException> errors = topics.stream()
                .filter(missing::contains)
                .collect(Collectors.toMap(t -> t, t -> new UnknownTopicOrPartitionException("missing on purpose")));
        immediate.add(() -> handler.onMetadata(new ClusterDelta("c", nodes, known, errors, complete)));
    }

    /** The metadata of a topic now. */
    TopicImage image(String topic) {
        int[][] nobody = new int[leaders.length][0];
        return new TopicImage(
                topic,
                new Uuid(topic.hashCode(), incarnation),
                leaders.clone(),
                epochs.clone(),
                new Replicas(nobody, nobody, nobody));
    }

    @Override
    public boolean ready(Node node, long atMs) {
        return reachable && (node.id() < 0 || inFlightRequests(node.id()) < maxInFlight);
    }

    @Override
    public long pollDelayMs(Node node, long atMs) {
        return reachable ? Long.MAX_VALUE : 50; // as while waiting to connect again
    }

    @Override
    public boolean canReachAny(long atMs) {
        return true; // or they would be forgotten for the bootstrap servers
    }

    @Override
    public Node leastLoadedNode(long atMs) {
        return nodes.get(0);
    }

    @Override
    public int inFlightRequests(int node) {
        return (int) pending.stream().filter(request -> request.node == node).count();
    }

    @Override
    public void poll(long timeoutMs, long atMs) {
        waits.add(timeoutMs);
        onPoll.run();
        for (Runnable answer = immediate.poll(); answer != null; answer = immediate.poll()) {
            answer.run();
        }
    }

    @Override
    public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {}

    @Override
    public void disconnectAll() {}

    @Override
    public void wakeup() {}

    @Override
    public void close() {}
}
