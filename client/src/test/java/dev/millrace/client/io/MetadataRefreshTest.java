package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.FinishedBatch;
import dev.millrace.client.accumulator.ReadyQueue;
import dev.millrace.client.metadata.ClusterDelta;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.RememberedTopics;
import dev.millrace.client.metadata.Replicas;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;

class MetadataRefreshTest {
    private static final long TRIGGER_MS = 1_000;
    private static final long MAX_AGE_MS = 60_000;
    private static final int TOO_MANY_ASKS = 10_000;

    private final ClusterImages images =
            new ClusterImages(ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("bootstrap", 1))));
    private final ScriptedLink link = new ScriptedLink();
    private final TopicRegistry registry = new TopicRegistry();
    private long nowMs = 1_000_000;

    @Test
    void shouldGoBackToBootstrapServersWhenNoKnownBrokerCanBeReached() {
        MetadataRefresh refresh = refresh(true);
        learnBroker(refresh, 7);
        link.reachable = false;
        refresh.request();

        runAfter(refresh, 1_000);

        assertThat(images.current().isBootstrap()).isTrue();
        assertThat(link.disconnects).isZero();
    }

    @Test
    void shouldStayWithKnownBrokersWhenToldTo() {
        MetadataRefresh refresh = refresh(false);
        learnBroker(refresh, 7);
        link.reachable = false;
        refresh.request();

        runAfter(refresh, 1_000);
        runAfter(refresh, 10 * TRIGGER_MS);

        assertThat(images.current().node(7)).isNotNull();
        assertThat(link.disconnects).isZero();
    }

    @Test
    void shouldGoBackWhenTheAnswerDoesNotComeInTime() {
        // given
        MetadataRefresh refresh = refresh(true);
        learnBroker(refresh, 7);
        refresh.request();
        runAfter(refresh, 1_000);
        assertThat(link.asked).isNotNull();

        // when, then
        long waitMs = runAfter(refresh, TRIGGER_MS);
        assertThat(images.current().node(7)).isNotNull();
        assertThat(waitMs).isEqualTo(1);

        runAfter(refresh, waitMs);
        assertThat(images.current().isBootstrap()).isTrue();
        assertThat(link.disconnects).isEqualTo(1);
    }

    @Test
    void shouldCountFromTheFirstOfSeveralFailures() {
        MetadataRefresh refresh = refresh(true);
        learnBroker(refresh, 7);
        refresh.request();
        for (int i = 0; i < 10; i++) {
            runAfter(refresh, TRIGGER_MS / 5);
            if (link.asked != null) {
                link.fail(new NetworkException("lost"));
            }
        }

        assertThat(images.current().isBootstrap()).isTrue();
    }

    @Test
    void shouldNotGoBackWhileBrokersAnswer() {
        MetadataRefresh refresh = refresh(true);
        for (int i = 0; i < 5; i++) {
            learnBroker(refresh, 7);
            runAfter(refresh, MAX_AGE_MS);
        }

        assertThat(images.current().node(7)).isNotNull();
        assertThat(link.disconnects).isZero();
    }

    @Test
    void shouldGoBackWhenABrokerAsksForItOnlyIfAllowed() {
        for (boolean allowed : new boolean[] {true, false}) {
            MetadataRefresh refresh = refresh(allowed);
            learnBroker(refresh, 7);
            refresh.request();
            runAfter(refresh, 1_000);

            link.requireRebootstrap();

            assertThat(images.current().isBootstrap()).isEqualTo(allowed);
        }
    }

    @Test
    void shouldGoBackWhenABrokerIsAnotherOneOnlyIfAllowed() {
        for (boolean allowed : new boolean[] {true, false}) {
            MetadataRefresh refresh = refresh(allowed);
            learnBroker(refresh, 7);

            refresh.requestRebootstrap();
            runAfter(refresh, 0);

            assertThat(images.current().isBootstrap()).isEqualTo(allowed);
        }
    }

    @Test
    void shouldAskForANewTopicAtOnceWhenAnotherIsMissing() {
        // given a topic that was just found missing
        MetadataRefresh refresh = refresh(true);
        learnBroker(refresh, 7);
        refresh.requestNewTopic("t", true);
        runAfter(refresh, 0);
        link.answer(new ClusterDelta(
                "c",
                List.of(new Node(7, "h", 1)),
                List.of(),
                Map.of("t", new UnknownTopicOrPartitionException("missing")),
                false));

        // when
        refresh.requestNewTopic("t", false);
        runAfter(refresh, 0);
        assertThat(link.asked).as("asking again for the missing one backs off").isNull();
        registry.add("new");
        refresh.requestNewTopic("new", true);
        runAfter(refresh, 0);

        // then
        assertThat(link.topics).contains("new");
    }

    /** As the stock producer. */
    @Test
    void shouldPauseForRetryBackoffMsWhenMetadataIsTooOldAtOnce() {
        MetadataRefresh refresh = refresh(false, 0);

        assertThat(asksWithin(refresh, 10_000)).isBetween(10_000 / 12 - 5, 10_000 / 8 + 5);
    }

    @Test
    void shouldNotAskAgainWhenMetadataNeverGetsTooOld() {
        for (long never : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MAX_VALUE - nowMs}) {
            assertThat(asksWithin(refresh(false, never), 1_000_000)).isEqualTo(1);
        }
    }

    @Test
    void shouldLetBrokersCreateNothingWhenThatIsNotAllowed() {
        MetadataRefresh refresh = refresh(true, MAX_AGE_MS, false);

        runAfter(refresh, 0);

        assertThat(link.topics).containsExactly("t");
        assertThat(link.mayCreate).isFalse();
    }

    @Test
    void shouldLetBrokersCreateInTheFirstRequestWhenASenderNeedsAllOfIt() {
        MetadataRefresh refresh = refresh(true);
        refresh.requestNewTopic("t", true);

        runAfter(refresh, 0);

        assertThat(link.complete).isTrue();
        assertThat(link.topics).containsExactly("t");
        assertThat(link.mayCreate).isTrue();
    }

    @Test
    void shouldLetBrokersCreateNothingWhenNobodyNeedsTheTopicsInUse() {
        MetadataRefresh refresh = refresh(true);
        learnBroker(refresh, 7);
        registry.add("idle");

        runAfter(refresh, MAX_AGE_MS);

        assertThat(link.topics).containsExactlyInAnyOrder("t", "idle");
        assertThat(link.mayCreate).isFalse();
    }

    @Test
    void shouldAskOnceMoreForANeededTopicWhenOthersInUseMustNotBeCreated() {
        // given metadata that is always too old, and a topic that is gone
        MetadataRefresh refresh = refresh(true, 0);
        learnBroker(refresh, 7);
        registry.add("needed");
        refresh.requestNewTopic("needed", true);
        runAfter(refresh, 1_000);
        assertThat(link.topics).containsExactlyInAnyOrder("t", "needed");
        assertThat(link.mayCreate).isFalse();

        // when
        UnknownTopicOrPartitionException gone = new UnknownTopicOrPartitionException("gone");
        link.answer(new ClusterDelta(
                "c", List.of(new Node(7, "h", 1)), List.of(), Map.of("t", gone, "needed", gone), true));
        runAfter(refresh, 1_000);

        // then
        assertThat(link.topics).containsExactly("needed");
        assertThat(link.mayCreate).isTrue();
        link.answer(described(false, "needed"));
        runAfter(refresh, 1_000);
        assertThat(link.complete).isTrue();
        assertThat(link.mayCreate).isFalse();
    }

    @Test
    void shouldLetBrokersCreateATopicThatHasBufferedRecords() {
        MetadataRefresh refresh = refresh(true);
        learnBroker(refresh, 7);

        refresh.noteUse("t", true);
        runAfter(refresh, 1_000);

        assertThat(link.topics).containsExactly("t");
        assertThat(link.mayCreate).isTrue();
    }

    @Test
    void shouldAskForRememberedTopicsBetweenThoseThatAreNeeded() {
        // given 2,001 remembered topics, three requests
        MetadataRefresh refresh = refresh(true);
        refresh.askLaterFor(remembered("c", 2_001));
        runAfter(refresh, 0);
        assertThat(link.topics).as("first what is in use").containsExactly("t");
        link.answer(described(true, "t"));

        // when a new topic is needed each time
        List<String> wanted = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            registry.add("new-" + i);
            refresh.requestNewTopic("new-" + i, true);
            runAfter(refresh, 0);
            assertThat(link.asked).isNotNull();
            boolean isForNew = link.topics.stream().allMatch(topic -> topic.startsWith("new-"));
            assertThat(link.mayCreate).as("only what is used").isEqualTo(isForNew);
            assertThat(link.complete).isFalse();
            wanted.add(isForNew ? "new" : "remembered " + link.topics.size());
            link.answer(described(false, link.topics.toArray(String[]::new)));
        }

        // then
        assertThat(wanted).containsExactly("remembered 1000", "new", "remembered 1000", "new", "remembered 1", "new");
        assertThat(images.current().topic("remembered-2000")).isNotNull();
        assertThat(registry.add("remembered-2000")).as("the registry lacks it").isFalse();
    }

    @Test
    void shouldNotKeepRememberedTopicsThatAreGone() {
        // given
        MetadataRefresh refresh = refresh(true);
        refresh.askLaterFor(remembered("c", 2));
        learnBroker(refresh, 7);
        runAfter(refresh, 0);

        // when
        link.answer(new ClusterDelta(
                "c",
                List.of(new Node(7, "h", 1)),
                List.of(topic("remembered-1")),
                Map.of("remembered-0", new UnknownTopicOrPartitionException("deleted")),
                false));

        // then nothing is asked until what is known has grown old
        assertThat(images.current().topic("remembered-1")).isNotNull();
        assertThat(images.current().error("remembered-0")).isNull();
        assertThat(runAfter(refresh, 0)).isEqualTo(MAX_AGE_MS);
        runAfter(refresh, MAX_AGE_MS);
        assertThat(link.topics).containsExactlyInAnyOrder("t", "remembered-1");
    }

    @Test
    void shouldNotAskForRememberedTopicsOfAnotherCluster() {
        MetadataRefresh refresh = refresh(true);
        refresh.askLaterFor(remembered("another", 2));
        learnBroker(refresh, 7);

        assertThat(runAfter(refresh, 0)).isEqualTo(MAX_AGE_MS);
        assertThat(link.asked).isNull();
    }

    @Test
    void shouldAskForANewTopicAtOnceWhenRememberedOnesAreOfAnotherCluster() {
        MetadataRefresh refresh = refresh(true);
        refresh.askLaterFor(remembered("another", 2));
        learnBroker(refresh, 7);
        registry.add("new");
        refresh.requestNewTopic("new", true);

        runAfter(refresh, 0);

        assertThat(link.topics).containsExactly("new");
    }

    @Test
    void shouldAskAgainForRememberedTopicsWhenTheConnectionIsLost() {
        MetadataRefresh refresh = refresh(true);
        refresh.askLaterFor(remembered("c", 2));
        learnBroker(refresh, 7);
        runAfter(refresh, 0);

        link.fail(new NetworkException("lost"));
        runAfter(refresh, 1_000);
        assertThat(link.complete).as("first what is in use").isTrue();
        link.answer(described(true, "t"));
        runAfter(refresh, 1_000);

        assertThat(link.topics).containsExactlyInAnyOrder("remembered-0", "remembered-1");
    }

    @Test
    void shouldForgetRememberedTopicsWhenTheClusterRefusesToAnswer() {
        MetadataRefresh refresh = refresh(true);
        refresh.askLaterFor(remembered("c", 2));
        learnBroker(refresh, 7);
        runAfter(refresh, 0);

        link.fail(new ClusterAuthorizationException("no"));
        assertThat(images.lastFailure()).as("nobody waits for these topics").isNull();
        runAfter(refresh, 1_000);
        link.answer(described(true, "t"));
        link.topics = List.of();
        runAfter(refresh, 1_000);

        assertThat(link.topics).isEmpty();
    }

    /** One broker's trouble may pass, or another broker may not have it: threads wait for max.block.ms, as in stock. */
    @Test
    void shouldAskAgainWhenABrokerAnswersWithAnErrorOnly() {
        MetadataRefresh refresh = refresh(true);
        learnBroker(refresh, 7);
        refresh.requestNewTopic("t", true);
        runAfter(refresh, 0);

        link.fail(new UnknownServerException());

        assertThat(images.lastFailure()).isNull();
        link.topics = List.of();
        runAfter(refresh, 1_000);
        assertThat(link.topics).containsExactly("t");
    }

    @Test
    void shouldTellThreadsThatWaitWhenNoBrokerWillAnswer() {
        MetadataRefresh refresh = refresh(true);
        learnBroker(refresh, 7);
        refresh.requestNewTopic("t", true);
        runAfter(refresh, 0);
        UnsupportedVersionException tooOld = new UnsupportedVersionException("too old");

        link.fail(tooOld);

        assertThat(images.lastFailure()).isSameAs(tooOld);
    }

    private static RememberedTopics remembered(String clusterId, int count) {
        return new RememberedTopics(
                clusterId,
                IntStream.range(0, count).mapToObj(i -> "remembered-" + i).toList());
    }

    private static ClusterDelta described(boolean complete, String... topics) {
        return new ClusterDelta(
                "c",
                List.of(new Node(7, "h", 1)),
                Stream.of(topics).map(MetadataRefreshTest::topic).toList(),
                Map.of(),
                complete);
    }

    private static TopicImage topic(String name) {
        int[][] replicas = {{7}};
        return new TopicImage(
                name, Uuid.ONE_UUID, new int[] {7}, new int[] {0}, new Replicas(replicas, replicas, new int[][] {{}}));
    }

    /** Of a cluster that answers at once, and always the same; time passes only while there is nothing to do. */
    private int asksWithin(MetadataRefresh refresh, long ms) {
        learnBroker(refresh, 7);
        int asks = 1;
        long endMs = nowMs + ms;
        while (nowMs < endMs && asks < TOO_MANY_ASKS) {
            long waitMs = refresh.runIfDue(nowMs);
            if (link.asked == null) {
                nowMs += Math.min(Math.max(1, waitMs), endMs - nowMs);
            } else {
                asks++;
                link.answer(new ClusterDelta("c", List.of(new Node(7, "h", 1)), List.of(), Map.of(), true));
            }
        }
        return asks;
    }

    private MetadataRefresh refresh(boolean rebootstrap) {
        return refresh(rebootstrap, MAX_AGE_MS);
    }

    private MetadataRefresh refresh(boolean rebootstrap, long maxAgeMs) {
        return refresh(rebootstrap, maxAgeMs, true);
    }

    private MetadataRefresh refresh(boolean rebootstrap, long maxAgeMs, boolean mayCreateTopics) {
        registry.add("t");
        IoContext context = new IoContext(
                null, new ReadyQueue(), images, registry, null, link, new NoMetrics(), () -> nowMs, () -> 0);
        return new MetadataRefresh(
                context,
                new SenderSettings(
                        0,
                        1,
                        1,
                        new Backoff(10, 100),
                        1,
                        1,
                        true,
                        maxAgeMs,
                        600_000,
                        rebootstrap,
                        TRIGGER_MS,
                        mayCreateTopics));
    }

    private void learnBroker(MetadataRefresh refresh, int id) {
        runAfter(refresh, 1_000);
        link.answer(new ClusterDelta("c", List.of(new Node(id, "h", 1)), List.of(), Map.of(), true));
    }

    private long runAfter(MetadataRefresh refresh, long ms) {
        nowMs += ms;
        return refresh.runIfDue(nowMs);
    }

    /** Answers to metadata requests as the test says. */
    private final class ScriptedLink implements BrokerLink {
        private boolean reachable = true;
        private int disconnects;
        private MetadataHandler asked;
        private Collection<String> topics = List.of();
        private boolean mayCreate;
        private boolean complete;

        void answer(ClusterDelta delta) {
            MetadataHandler handler = asked;
            asked = null;
            handler.onMetadata(delta);
        }

        void requireRebootstrap() {
            MetadataHandler handler = asked;
            asked = null;
            handler.onRebootstrapRequired();
        }

        void fail(org.apache.kafka.common.KafkaException error) {
            MetadataHandler handler = asked;
            asked = null;
            handler.onError(error);
        }

        @Override
        public void metadata(
                Node node,
                Collection<String> topics,
                boolean mayCreate,
                boolean complete,
                MetadataHandler handler,
                long askedMs) {
            asked = handler;
            this.topics = topics;
            this.mayCreate = mayCreate;
            this.complete = complete;
        }

        @Override
        public Node leastLoadedNode(long atMs) {
            return reachable ? images.current().nodes().get(0) : null;
        }

        @Override
        public boolean canReachAny(long atMs) {
            return reachable;
        }

        @Override
        public void disconnectAll() {
            disconnects++;
        }

        @Override
        public boolean ready(Node node, long atMs) {
            return true;
        }

        @Override
        public long pollDelayMs(Node node, long atMs) {
            return 0;
        }

        @Override
        public void onDisconnect(ObjIntConsumer<AuthenticationException> listener) {}

        @Override
        public void produce(
                Node node, List<FinishedBatch> batches, ClusterImage image, ProduceHandler handler, long atMs) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void describeProducers(
                Node leader, List<ProducerQuestion> questions, ProducersHandler producers, long nowMs) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void initProducerId(Node node, ProducerIdHandler handler, long atMs) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int inFlightRequests(int node) {
            return 0;
        }

        @Override
        public void poll(long timeoutMs, long atMs) {}

        @Override
        public void wakeup() {}

        @Override
        public void close() {}
    }
}
