package dev.millrace.mirror.fetch;

import dev.millrace.client.io.BrokerLink.MetadataHandler;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.TopicImage;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;

/** Keeps requests until the test answers them. Only metadata is answered by itself, at the next poll. */
final class ScriptedFetchLink implements FetchLink {
    static final int SESSION = 5;

    final List<Fetch> fetches = new ArrayList<>();
    final List<Ask> asks = new ArrayList<>();
    final Set<Integer> notReady = new HashSet<>();
    final List<Long> waits = new ArrayList<>();
    final List<Node> nodes = new ArrayList<>();
    int metadataRequests;
    int wakeups;

    private final Queue<Runnable> events = new ArrayDeque<>();
    private final Map<String, TopicImage> topics = new java.util.HashMap<>();
    private final Map<String, ApiException> errors = new java.util.HashMap<>();
    private ObjIntConsumer<AuthenticationException> onDisconnect;

    /** A fetch request that is not answered. */
    record Fetch(FetchCall call, FetchSession session, FetchHandler handler) {
        FetchSlot slot(TopicPartition tp) {
            return call.round().send().stream()
                    .filter(slot -> slot.partition().equals(tp))
                    .findFirst()
                    .orElseThrow(() -> new NoSuchElementException(tp + " not in " + call));
        }

        List<TopicPartition> sent() {
            return call.round().send().stream().map(FetchSlot::partition).toList();
        }

        List<TopicPartition> forgotten() {
            return call.round().forget().stream().map(FetchSlot::partition).toList();
        }
    }

    /** A request about offsets that is not answered. */
    record Ask(boolean isEpochEnds, Node node, List<OffsetQuery> queries, OffsetHandler handler) {}

    ScriptedFetchLink(int brokers) {
        for (int id = 1; id <= brokers; id++) {
            nodes.add(new Node(id, "broker" + id, 9092));
        }
    }

    /** What metadata says of a topic from now on: leaders and epochs by partition. */
    void describe(String topic, Uuid id, int[] leaders, int[] epochs) {
        int[][] none = new int[leaders.length][0];
        topics.put(topic, new TopicImage(topic, id, leaders, epochs, new Replicas(none, none, none)));
        errors.remove(topic);
    }

    void describe(String topic, ApiException error) {
        topics.remove(topic);
        errors.put(topic, error);
    }

    /** Takes the oldest unanswered fetch request to this connection. */
    Fetch takeFetch(int connection) {
        Fetch found = fetches.stream()
                .filter(fetch -> fetch.call().node().id() == connection)
                .findFirst()
                .orElseThrow(() -> new NoSuchElementException("No fetch to " + connection + " in " + fetches));
        fetches.remove(found);
        return found;
    }

    boolean hasFetch(int connection) {
        return fetches.stream().anyMatch(fetch -> fetch.call().node().id() == connection);
    }

    Ask takeAsk() {
        return asks.remove(0);
    }

    void answer(Fetch fetch, PartitionAnswer... partitions) {
        answer(fetch, List.of(), partitions);
    }

    void answer(Fetch fetch, List<LeaderHint> leaders, PartitionAnswer... partitions) {
        int size = 0;
        for (PartitionAnswer partition : partitions) {
            size += partition.bytes().remaining();
        }
        FetchAnswer answer = new FetchAnswer(SESSION, size, 1, List.of(partitions), leaders, List.of());
        events.add(() -> fetch.handler().onAnswer(answer));
    }

    void fail(Fetch fetch, KafkaException failure) {
        events.add(() -> fetch.handler().onFailure(failure));
    }

    void disconnect(int connection, AuthenticationException refusalOrNull) {
        events.add(() -> onDisconnect.accept(refusalOrNull, connection));
    }

    static PartitionAnswer bytes(FetchSlot slot, ByteBuffer... batches) {
        ByteBuffer all = TestBatches.join(batches);
        return new PartitionAnswer(
                slot, PartitionAnswer.Outcome.OK, all, new FetchOffsets(1_000_000, 900_000, 0), List.of(), -1);
    }

    static PartitionAnswer nothing(FetchSlot slot, long end) {
        return new PartitionAnswer(
                slot, PartitionAnswer.Outcome.OK, ByteBuffer.allocate(0), new FetchOffsets(end, end, 0), List.of(), -1);
    }

    static PartitionAnswer failed(FetchSlot slot, Remedy remedy, ApiException error) {
        return new PartitionAnswer(
                slot,
                new PartitionAnswer.Outcome(remedy, error),
                ByteBuffer.allocate(0),
                FetchOffsets.UNKNOWN,
                List.of(),
                -1);
    }

    static PartitionAnswer readFrom(FetchSlot slot, int replica) {
        return new PartitionAnswer(
                slot, PartitionAnswer.Outcome.OK, ByteBuffer.allocate(0), FetchOffsets.UNKNOWN, List.of(), replica);
    }

    @Override
    public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {
        onDisconnect = listener;
    }

    @Override
    public boolean ready(Node node, long nowMs) {
        return !notReady.contains(node.id());
    }

    @Override
    public long pollDelayMs(Node node, long nowMs) {
        return 33;
    }

    @Override
    public Node leastLoadedNode(long nowMs) {
        return nodes.get(0);
    }

    @Override
    public boolean canReachAny(long nowMs) {
        return true;
    }

    @Override
    public void disconnectAll() {}

    @Override
    public void fetch(FetchCall call, FetchSession session, FetchHandler handler, long nowMs) {
        fetches.add(new Fetch(call, session, handler));
    }

    @Override
    public void metadata(Node node, Collection<String> wanted, MetadataHandler handler, long nowMs) {
        metadataRequests++;
        List<TopicImage> found =
                wanted.stream().filter(topics::containsKey).map(topics::get).toList();
        Map<String, ApiException> failed = Map.copyOf(errors);
        events.add(() -> handler.onMetadata(new ClusterDelta("cluster", List.copyOf(nodes), found, failed, true)));
    }

    @Override
    public void listOffsets(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs) {
        asks.add(new Ask(false, node, queries, handler));
    }

    @Override
    public void epochEnds(Node node, List<OffsetQuery> queries, OffsetHandler handler, long nowMs) {
        asks.add(new Ask(true, node, queries, handler));
    }

    @Override
    public void poll(long timeoutMs, long nowMs) {
        waits.add(timeoutMs);
        for (int i = events.size(); i > 0; i--) {
            events.remove().run();
        }
    }

    @Override
    public void wakeup() {
        wakeups++;
    }

    @Override
    public void close() {}
}
