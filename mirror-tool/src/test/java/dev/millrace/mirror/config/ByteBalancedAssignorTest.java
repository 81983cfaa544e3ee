package dev.millrace.mirror.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** Plays the rebalances of a cooperative group: members join and leave, give up what they lose, and join again. */
class ByteBalancedAssignorTest {
    private static final Node NODE = new Node(0, "host", 1);

    private final ByteBalancedAssignor assignor = new ByteBalancedAssignor();
    private final Map<TopicPartition, Long> sizes = new HashMap<>();
    private final Map<String, List<TopicPartition>> owned = new TreeMap<>();

    @Test
    void shouldShareByBytesWhateverJoinsOrLeavesAndNeverGiveAPartitionToTwo() {
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            sizes.clear();
            owned.clear();
            createTopics(random);
            knowSizes();
            for (int change = 0; change < 6; change++) {
                if (owned.size() > 1 && random.nextInt(3) == 0) {
                    owned.remove(owned.keySet().iterator().next());
                } else {
                    owned.put("member-" + seed + "-" + random.nextInt(1_000_000), List.of());
                }
                settle("seed " + seed);
                assertBalanced("seed " + seed);
            }
        }
    }

    @Test
    void shouldShareTheRestWhenOnePartitionIsLargerThanAShare() {
        partitions("huge", 1, 1_000_000);
        partitions("small", 9, 1_000);
        knowSizes();
        owned.put("a", List.of());
        settle("one member");
        List.of("b", "c", "d").forEach(member -> owned.put(member, List.of()));

        settle("four members");

        assertThat(owned.values().stream().map(List::size).sorted()).containsExactly(1, 3, 3, 3);
    }

    @Test
    void shouldMoveNothingInAGroupThatIsBalanced() {
        createTopics(new Random(1));
        knowSizes();
        List.of("a", "b", "c").forEach(member -> owned.put(member, List.of()));
        settle("at first");
        Map<String, List<TopicPartition>> before = new TreeMap<>(owned);

        assertThat(rebalance("again")).isFalse();

        assertThat(owned).isEqualTo(before);
    }

    @Test
    void shouldShareByNumberWhileSizesAreUnknown() {
        partitions("wide", 10, 1_000_000);
        List.of("a", "b", "c").forEach(member -> owned.put(member, List.of()));

        settle("unknown");

        assertThat(owned.values().stream().map(List::size).sorted()).containsExactly(3, 3, 4);
    }

    @Test
    void shouldIgnoreWhatAMemberOfAFormerGenerationBelievesToOwn() {
        partitions("one", 1, 5);
        TopicPartition partition = new TopicPartition("one", 0);
        Map<String, Subscription> members =
                Map.of("away", subscription(List.of(partition), 6), "present", subscription(List.of(partition), 7));

        Map<String, List<TopicPartition>> assigned = assign(members);

        assertThat(assigned).containsEntry("present", List.of(partition)).containsEntry("away", List.of());
    }

    @Test
    void shouldGiveATopicOnlyToThoseThatSubscribeToIt() {
        partitions("both", 4, 1);
        partitions("new", 4, 100);
        Subscription old = new Subscription(List.of("both"), null, List.of(), 1, Optional.empty());

        Map<String, List<TopicPartition>> assigned = assign(Map.of("old", old, "recent", subscription(List.of(), 1)));

        assertThat(assigned.get("recent")).extracting(TopicPartition::topic).containsOnly("new");
        assertThat(assigned.get("old")).extracting(TopicPartition::topic).containsOnly("both");
    }

    /** Topics of very different sizes, some of them empty. */
    private void createTopics(Random random) {
        for (int topic = 0; topic < 1 + random.nextInt(20); topic++) {
            long bytes = random.nextInt(4) == 0 ? 0 : (long) Math.exp(10 + 3 * random.nextGaussian());
            partitions("topic-" + topic, 1 + random.nextInt(12), bytes);
        }
    }

    private void partitions(String topic, int count, long bytes) {
        for (int partition = 0; partition < count; partition++) {
            sizes.put(new TopicPartition(topic, partition), bytes);
        }
    }

    private void knowSizes() {
        assignor.configure(Map.of(ByteBalancedAssignor.SIZES_CONFIG, (PartitionSizes) partitions -> sizes));
    }

    private void settle(String as) {
        int rebalances = 0;
        while (rebalance(as)) {
            assertThat(++rebalances).as("%s: rebalances", as).isLessThan(6);
        }
        assertThat(owned.values().stream().mapToInt(List::size).sum()).as(as).isEqualTo(sizes.size());
    }

    /** Returns whether there must be another one, because a member has given something up. */
    private boolean rebalance(String as) {
        Map<String, Subscription> members = new TreeMap<>();
        owned.forEach((member, partitions) -> members.put(member, subscription(partitions, 1)));
        Map<String, List<TopicPartition>> assigned = assign(members);
        boolean isGivenUp = false;
        Set<TopicPartition> taken = new HashSet<>();
        for (String member : owned.keySet()) {
            List<TopicPartition> before = owned.get(member);
            List<TopicPartition> after = assigned.get(member);
            isGivenUp |= !after.containsAll(before);
            for (TopicPartition partition : after) {
                assertThat(taken.add(partition))
                        .as("%s: %s has one owner", as, partition)
                        .isTrue();
                assertThat(owned.entrySet().stream()
                                .filter(other -> !other.getKey().equals(member))
                                .noneMatch(other -> other.getValue().contains(partition)))
                        .as("%s: nobody else has %s still", as, partition)
                        .isTrue();
            }
        }
        owned.replaceAll((member, before) -> assigned.get(member));
        return isGivenUp;
    }

    private Map<String, List<TopicPartition>> assign(Map<String, Subscription> members) {
        List<PartitionInfo> infos = new ArrayList<>();
        sizes.keySet()
                .forEach(partition -> infos.add(new PartitionInfo(
                        partition.topic(), partition.partition(), NODE, new Node[] {NODE}, new Node[] {NODE})));
        Cluster cluster = new Cluster("id", List.of(NODE), infos, Set.of(), Set.of());
        return assignor.assign(cluster, new GroupSubscription(members)).groupAssignment().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().partitions()));
    }

    private Subscription subscription(List<TopicPartition> partitions, int generation) {
        List<String> topics =
                sizes.keySet().stream().map(TopicPartition::topic).distinct().toList();
        return new Subscription(topics, null, partitions, generation, Optional.empty());
    }

    /** No member has more than its share by more than one of its partitions. */
    private void assertBalanced(String as) {
        double mean = sizes.values().stream().mapToLong(size -> size).sum() / (double) owned.size();
        double slack = sizes.values().stream().mapToLong(size -> size).sum() / 10.0; // what empty partitions weigh
        owned.forEach((member, partitions) -> {
            long has = partitions.stream().mapToLong(sizes::get).sum();
            long smallest = partitions.stream()
                    .mapToLong(sizes::get)
                    .filter(size -> size > 0)
                    .min()
                    .orElse(0);
            assertThat((double) has)
                    .as("%s: bytes of %s", as, member)
                    .isLessThanOrEqualTo(1.05 * mean + slack + smallest);
        });
    }
}
