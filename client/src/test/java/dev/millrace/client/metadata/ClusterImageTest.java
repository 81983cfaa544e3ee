package dev.millrace.client.metadata;

import static dev.millrace.client.metadata.TestTopics.ID;
import static dev.millrace.client.metadata.TestTopics.OTHER_ID;
import static dev.millrace.client.metadata.TestTopics.complete;
import static dev.millrace.client.metadata.TestTopics.node;
import static dev.millrace.client.metadata.TestTopics.nodes;
import static dev.millrace.client.metadata.TestTopics.partial;
import static dev.millrace.client.metadata.TestTopics.topic;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;

class ClusterImageTest {
    private final ClusterImage bootstrap = ClusterImage.bootstrap(
            List.of(InetSocketAddress.createUnresolved("a", 1), InetSocketAddress.createUnresolved("b", 2)));

    private final ClusterImage brokers = bootstrap.withDelta(nodes(node(1), node(2), node(3)));

    @Test
    void shouldKnowOnlyBootstrapServersWhenNothingWasAnsweredYet() {
        assertThat(bootstrap.version()).isZero();
        assertThat(bootstrap.nodes()).extracting(Node::host).containsExactlyInAnyOrder("a", "b");
        assertThat(bootstrap.nodes()).allMatch(node -> node.id() < 0);
        assertThat(bootstrap.topic("t")).isNull();
        assertThat(bootstrap.leader("t", 0)).isNull();
    }

    @Test
    void shouldForgetBootstrapServersWhenBrokersAreKnown() {
        assertThat(brokers.nodes()).extracting(Node::id).containsExactlyInAnyOrder(1, 2, 3);
        assertThat(brokers.version()).isEqualTo(1);
    }

    @Test
    void shouldKeepBrokersAndClusterIdWhenTheAnswerTellsNone() {
        ClusterImage next = brokers.withDelta(partial(topic("t", 1, 0)));

        assertThat(next.nodes()).hasSize(3);
        assertThat(next.toCluster().clusterResource().clusterId()).isEqualTo("cluster");
    }

    @Test
    void shouldKeepOtherTopicsWhenTheDeltaIsPartial() {
        ClusterImage image = brokers.withDelta(partial(topic("a", 1, 0), topic("b", 1, 0)));

        ClusterImage next = image.withDelta(partial(topic("b", 2, 1)));

        assertThat(next.leader("a", 0)).isEqualTo(node(1));
        assertThat(next.leader("b", 0)).isEqualTo(node(2));
        assertThat(next.version()).isEqualTo(image.version() + 1);
        assertThat(image.leader("b", 0)).as("images do not change").isEqualTo(node(1));
    }

    @Test
    void shouldForgetOtherTopicsAndErrorsWhenTheDeltaIsComplete() {
        ClusterImage image = brokers.withDelta(partial(topic("a", 1, 0), topic("b", 1, 0)))
                .withDelta(new ClusterDelta(
                        null, List.of(), List.of(), Map.of("c", new InvalidTopicException("c")), false));

        ClusterImage next = image.withDelta(complete(topic("b", 2, 1)));

        assertThat(next.topic("a")).isNull();
        assertThat(next.error("c")).isNull();
        assertThat(next.leader("b", 0)).isEqualTo(node(2));
    }

    @Test
    void shouldKeepErrorUntilTheTopicIsDescribedWhenDeltasArePartial() {
        InvalidTopicException error = new InvalidTopicException("t");
        ClusterImage image = brokers.withDelta(partial(topic("t", 1, 0)))
                .withDelta(new ClusterDelta(null, List.of(), List.of(), Map.of("t", error), false));
        assertThat(image.topic("t")).isNull();

        ClusterImage other = image.withDelta(partial(topic("u", 1, 0)));
        ClusterImage described = other.withDelta(partial(topic("t", 1, 0)));

        assertThat(other.error("t")).isSameAs(error);
        assertThat(other.errorAfter(image.version() - 1, "t")).isSameAs(error);
        assertThat(other.errorAfter(image.version(), "t"))
                .as("the next answer is about another topic")
                .isNull();
        assertThat(described.error("t")).isNull();
        assertThat(described.topic("t")).isNotNull();
    }

    @Test
    void shouldKeepTheNewerLeaderWhenTheAnswerIsStale() {
        ClusterImage image = brokers.withDelta(partial(topic("t", 1, 5)));

        assertThat(image.withDelta(partial(topic("t", 2, 4))).leader("t", 0)).isEqualTo(node(1));
        assertThat(image.withDelta(complete(topic("t", 2, 4))).leader("t", 0)).isEqualTo(node(1));
        assertThat(image.withDelta(partial(topic("t", 2, 6))).leader("t", 0)).isEqualTo(node(2));
    }

    @Test
    void shouldTakeTheNewLeadersWhenTheTopicWasCreatedAnew() {
        ClusterImage image = brokers.withDelta(partial(topic("t", ID, new int[] {1, 1}, new int[] {9, 9})));

        ClusterImage next = image.withDelta(partial(topic("t", OTHER_ID, new int[] {3}, new int[] {0})));

        assertThat(next.topic("t").partitions()).isEqualTo(1);
        assertThat(next.leader("t", 0)).isEqualTo(node(3));
        assertThat(next.leader("t", 1)).isNull();
    }

    @Test
    void shouldHaveNoLeaderWhenItsBrokerIsGone() {
        ClusterImage image = brokers.withDelta(partial(topic("t", 1, 0)));

        ClusterImage next = image.withDelta(nodes(node(2), node(3)));

        assertThat(next.leader("t", 0)).isNull();
    }

    @Test
    void shouldTakeAHintAndItsEndpointWhenTheEpochIsNewer() {
        ClusterImage image = brokers.withDelta(partial(topic("t", 1, 5)));

        ClusterImage next = image.withLeaderHints(List.of(new LeaderHint("t", ID, 0, 4, 6)), List.of(node(4)));

        assertThat(next.leader("t", 0)).isEqualTo(node(4));
        assertThat(next.version()).isEqualTo(image.version() + 1);
        assertThat(next.nodes()).as("the others are still there").hasSize(4);
    }

    /** Its epoch says nothing of the new topic, whose own begin at 0 and would be taken for old ones from then on. */
    @Test
    void shouldIgnoreAHintOfATopicThatWasCreatedAnewMeanwhile() {
        // given
        ClusterImage image = brokers.withDelta(partial(topic("t", 1, 57)));
        ClusterImage anew = image.withDelta(partial(topic("t", OTHER_ID, new int[] {1}, new int[] {0})));

        // when
        ClusterImage hinted = anew.withLeaderHints(List.of(new LeaderHint("t", ID, 0, 2, 58)), List.of());

        // then
        assertThat(hinted).isSameAs(anew);
        ClusterImage moved = hinted.withDelta(partial(topic("t", OTHER_ID, new int[] {3}, new int[] {1})));
        assertThat(moved.leader("t", 0)).isEqualTo(node(3));
        ClusterImage movedAgain = moved.withLeaderHints(List.of(new LeaderHint("t", OTHER_ID, 0, 2, 2)), List.of());
        assertThat(movedAgain.leader("t", 0)).isEqualTo(node(2));
    }

    @Test
    void shouldFindTheNewTopicAgainWhenABrokerThatLagsHasToldOfTheOldOne() {
        ClusterImage anew = brokers.withDelta(partial(topic("t", 1, 57)))
                .withDelta(partial(topic("t", OTHER_ID, new int[] {3}, new int[] {0})));

        ClusterImage lagging = anew.withDelta(complete(topic("t", 1, 57)));
        ClusterImage hinted = lagging.withLeaderHints(List.of(new LeaderHint("t", ID, 0, 2, 58)), List.of());
        ClusterImage next = hinted.withDelta(complete(topic("t", OTHER_ID, new int[] {3}, new int[] {0})));

        assertThat(next.topic("t").id()).isEqualTo(OTHER_ID);
        assertThat(next.leader("t", 0)).isEqualTo(node(3));
        assertThat(next.topic("t").leaderEpoch(0)).isZero();
    }

    @Test
    void shouldStayTheSameObjectWhenNoHintIsNews() {
        ClusterImage image = brokers.withDelta(partial(topic("t", 1, 5)));

        assertThat(image.withLeaderHints(List.of(), List.of(node(4)))).isSameAs(image);
        assertThat(image.withLeaderHints(List.of(new LeaderHint("t", ID, 0, 2, 5)), List.of()))
                .isSameAs(image);
        assertThat(image.withLeaderHints(List.of(new LeaderHint("u", ID, 0, 2, 6)), List.of()))
                .isSameAs(image);
        assertThat(image.withLeaderHints(List.of(new LeaderHint("t", ID, 0, 99, 6)), List.of()))
                .as("a leader without an address")
                .isSameAs(image);
    }

    @Test
    void shouldNeverGoBackToAnOlderEpochWhenAnswersComeInAnyOrder() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println("ClusterImageTest runs with -Dmillrace.seed=" + seed);
        Random random = new Random(seed);
        ClusterImage image = brokers.withDelta(partial(topic("t", 1, 0)));
        int newest = 0;

        for (int i = 0; i < 2_000; i++) {
            int epoch = Math.max(0, newest + random.nextInt(6) - 4);
            int leader = 1 + epoch % 3; // one epoch has one leader
            int version = image.version();
            image = switch (random.nextInt(3)) {
                case 0 -> image.withDelta(partial(topic("t", leader, epoch)));
                case 1 -> image.withDelta(complete(topic("t", leader, epoch)));
                default -> image.withLeaderHints(List.of(new LeaderHint("t", ID, 0, leader, epoch)), List.of());
            };
            newest = Math.max(newest, epoch);

            assertThat(image.topic("t").leaderEpoch(0)).isEqualTo(newest);
            assertThat(image.leader("t", 0).id()).isEqualTo(1 + newest % 3);
            assertThat(image.version()).isBetween(version, version + 1);
        }
    }

    @Test
    void shouldDescribePartitionsAsTheStockClientDoesWhenBrokersAreGone() {
        TopicImage topic = new TopicImage(
                "t",
                ID,
                new int[] {1, TopicImage.NO_LEADER},
                new int[] {0, 0},
                new Replicas(new int[][] {{1, 2}, {3, 77}}, new int[][] {{1}, {3}}, new int[][] {{}, {77}}));
        ClusterImage image = brokers.withDelta(partial(topic));

        List<PartitionInfo> infos = image.partitionInfos(image.topic("t"));

        assertThat(infos).hasSize(2);
        assertThat(infos.get(0).leader()).isEqualTo(node(1));
        assertThat(infos.get(0).replicas()).containsExactly(node(1), node(2));
        assertThat(infos.get(0).inSyncReplicas()).containsExactly(node(1));
        assertThat(infos.get(1).leader()).isNull();
        assertThat(infos.get(1).replicas()).extracting(Node::id).containsExactly(3, 77);
        assertThat(infos.get(1).offlineReplicas()).extracting(Node::id).containsExactly(77);
    }

    @Test
    void shouldShowAPartitionerOnlyPartitionsWithALeaderAsAvailable() {
        TopicImage topic = topic("t", ID, new int[] {1, TopicImage.NO_LEADER, 2}, new int[] {0, 0, 0});
        ClusterImage image = brokers.withDelta(partial(topic, topic("u", 1, 0)));

        Cluster shown = image.toCluster();

        assertThat(shown.partitionsForTopic("t")).hasSize(3);
        assertThat(shown.availablePartitionsForTopic("t"))
                .extracting(PartitionInfo::partition)
                .containsExactlyInAnyOrder(0, 2);
        assertThat(shown.nodes()).hasSize(3);
        assertThat(shown.topics()).containsExactlyInAnyOrder("t", "u");
        assertThat(shown.partitionCountForTopic("u")).isEqualTo(1);
        ClusterImage back = image.withNodesOf(bootstrap); // whose ids begin with that of no leader
        assertThat(back.toCluster().availablePartitionsForTopic("t")).isEmpty();
    }

    @Test
    void shouldNotGoBackToAnOlderLeaderWhenATopicWasMissingInBetween() {
        ClusterImage known = brokers.withDelta(complete(topic("t", 1, 5)));
        ClusterDelta unknown = new ClusterDelta(
                null, List.of(), List.of(), Map.of("t", new UnknownTopicOrPartitionException("not yet")), true);

        ClusterImage stale = known.withDelta(unknown).withDelta(unknown).withDelta(complete(topic("t", 2, 4)));

        assertThat(stale.leader("t", 0)).isEqualTo(node(1));
        assertThat(stale.topic("t").leaderEpoch(0)).isEqualTo(5);
        assertThat(stale.error("t")).isNull();
    }

    @Test
    void shouldTakeAnyEpochOfATopicThatWasCreatedAnewAfterItWasMissing() {
        ClusterImage known = brokers.withDelta(complete(topic("t", 1, 5)));
        ClusterDelta unknown = new ClusterDelta(
                null, List.of(), List.of(), Map.of("t", new UnknownTopicOrPartitionException("deleted")), true);

        ClusterImage anew =
                known.withDelta(unknown).withDelta(complete(topic("t", OTHER_ID, new int[] {2}, new int[] {0})));

        assertThat(anew.leader("t", 0)).isEqualTo(node(2));
    }

    /** Brokers before 2.8 give no ids, and a topic that was missing may have been created anew. */
    @Test
    void shouldTakeAnyEpochOfATopicWithoutIdAfterItWasMissing() {
        ClusterImage known = brokers.withDelta(complete(topic("t", Uuid.ZERO_UUID, new int[] {1}, new int[] {5})));
        ClusterDelta unknown = new ClusterDelta(
                null, List.of(), List.of(), Map.of("t", new UnknownTopicOrPartitionException("deleted")), true);

        ClusterImage anew =
                known.withDelta(unknown).withDelta(complete(topic("t", Uuid.ZERO_UUID, new int[] {2}, new int[] {0})));

        assertThat(anew.leader("t", 0)).isEqualTo(node(2));
        assertThat(anew.topic("t").index()).isEqualTo(known.topic("t").index());
    }

    /** What is made of all topics need not be made again after each answer. */
    @Test
    void shouldTellWhetherTopicsAndBrokersAreTheSame() {
        ClusterImage image = brokers.withDelta(complete(topic("t", 1, 5)));

        ClusterImage withoutNews = image.withDelta(complete(topic("t", 1, 5)));

        assertThat(withoutNews.version()).isGreaterThan(image.version());
        assertThat(withoutNews.hasSameTopicsAs(image)).isTrue();
        assertThat(image.withDelta(complete(topic("t", 2, 6))).hasSameTopicsAs(image))
                .isFalse();
        assertThat(image.withNodesOf(bootstrap).hasSameTopicsAs(image)).isFalse();
    }

    @Test
    void shouldKeepTopicsButNoLeadersWhenItGoesBackToBootstrapServers() {
        ClusterImage known = brokers.withDelta(complete(topic("t", 1, 5)));

        ClusterImage back = known.withNodesOf(bootstrap);

        assertThat(back.isBootstrap()).isTrue();
        assertThat(known.isBootstrap()).isFalse();
        assertThat(back.version()).isEqualTo(known.version() + 1);
        assertThat(back.topic("t")).isNotNull();
        assertThat(back.leader("t", 0)).isNull();
    }

    /** A record finds its queue by this number: the same for two topics would be a record in the wrong one. */
    @Test
    void shouldGiveEachNameOneIndexWhateverBecomesOfItsTopic() {
        Random random = new Random(5);
        Map<String, Integer> indexes = new HashMap<>();
        ClusterImage image = brokers;
        for (int round = 0; round < 2_000; round++) {
            String name = "t" + random.nextInt(40);
            image = switch (random.nextInt(6)) {
                case 0 -> image.withDelta(complete(topic(name, 1, round)));
                case 1 -> image.withDelta(partial(topic(name, OTHER_ID, new int[] {2}, new int[] {0})));
                case 2 ->
                    image.withDelta(new ClusterDelta(
                            null, List.of(), List.of(), Map.of(name, new UnknownTopicOrPartitionException()), false));
                case 3 -> image.withLeaderHints(List.of(new LeaderHint(name, ID, 0, 3, round)), List.of());
                case 4 -> image.withNodesOf(bootstrap).withDelta(nodes(node(1), node(2), node(3)));
                default -> image.withDelta(partial(topic(name, 1, round)));
            };
            TopicImage topic = image.topic(name);
            if (topic != null) {
                indexes.putIfAbsent(name, topic.index());
                assertThat(topic.index()).as(name).isEqualTo(indexes.get(name));
            }
        }
        assertThat(indexes).hasSize(40);
        assertThat(indexes.values())
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 40).boxed().toList());
    }
}
