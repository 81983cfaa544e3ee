package dev.millrace.client.metadata;

import static dev.millrace.client.metadata.TestTopics.ID;
import static dev.millrace.client.metadata.TestTopics.OTHER_ID;
import static dev.millrace.client.metadata.TestTopics.node;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Whatever happens to a cluster, an image says what a model of plain maps says, and the images before it do not change. */
class ClusterImageModelTest {
    /** Two of them have one hash. */
    private static final List<String> NAMES = List.of("Aa", "BB", "orders", "payments", "t1", "t2");

    private static final ClusterImage BOOTSTRAP =
            ClusterImage.bootstrap(List.of(InetSocketAddress.createUnresolved("a", 1)));

    private enum Kind {
        ANSWER,
        ANSWER_FOR_ALL,
        ERROR,
        HINT,
        REBOOTSTRAP
    }

    /** Something that happens to some topics, which then have these partitions, leader, epoch and id. */
    private record Step(Kind kind, Set<String> topics, int partitions, int leader, int epoch, Uuid id) {}

    /** The leader and the epoch of each partition. */
    private record ModelTopic(Uuid id, List<List<Integer>> partitions) {}

    /** An image as plain maps. Missing topics are those in {@code errors}. */
    private record Model(
            Set<Integer> nodes, Map<String, ModelTopic> topics, Map<String, ModelTopic> lastKnown, Set<String> errors) {
        Model copy() {
            return new Model(
                    new HashSet<>(nodes), new TreeMap<>(topics), new TreeMap<>(lastKnown), new HashSet<>(errors));
        }

        static Model of(ClusterImage image) {
            Model model = new Model(new HashSet<>(), new TreeMap<>(), new TreeMap<>(), new HashSet<>());
            image.nodes().forEach(node -> model.nodes.add(node.id()));
            for (String name : NAMES) {
                TopicImage topic = image.topic(name);
                if (topic != null) {
                    List<List<Integer>> partitions = new ArrayList<>();
                    for (int p = 0; p < topic.partitions(); p++) {
                        partitions.add(List.of(topic.leader(p), topic.leaderEpoch(p)));
                    }
                    model.topics.put(name, new ModelTopic(topic.id(), partitions));
                }
                if (image.error(name) != null) {
                    model.errors.add(name);
                }
            }
            return model;
        }

        void answer(Step step) {
            boolean isForAll = step.kind == Kind.ANSWER_FOR_ALL;
            Map<String, ModelTopic> before = new HashMap<>(lastKnown);
            before.putAll(topics);
            if (isForAll) {
                topics.clear();
                errors.clear();
                lastKnown.clear();
            }
            nodes.clear();
            nodes.addAll(brokers(step).stream().map(Node::id).toList());
            for (String name : step.topics) {
                errors.remove(name);
                lastKnown.remove(name);
                topics.put(name, merged(before.get(name), step));
            }
        }

        private static ModelTopic merged(ModelTopic known, Step step) {
            List<List<Integer>> partitions = new ArrayList<>();
            for (int p = 0; p < step.partitions; p++) {
                boolean isStale = known != null
                        && known.id.equals(step.id)
                        && p < known.partitions.size()
                        && known.partitions.get(p).get(1) > step.epoch;
                partitions.add(isStale ? known.partitions.get(p) : List.of(step.leader, step.epoch));
            }
            return new ModelTopic(step.id, partitions);
        }

        void error(Step step) {
            for (String name : step.topics) {
                errors.add(name);
                ModelTopic known = topics.remove(name);
                if (known != null) {
                    lastKnown.put(name, known);
                }
            }
        }

        void hint(Step step) {
            for (String name : step.topics) {
                ModelTopic known = topics.get(name);
                int last = step.partitions - 1;
                if (known != null
                        && nodes.contains(step.leader)
                        && known.id.equals(step.id)
                        && last < known.partitions.size()
                        && known.partitions.get(last).get(1) < step.epoch) {
                    List<List<Integer>> partitions = new ArrayList<>(known.partitions);
                    partitions.set(last, List.of(step.leader, step.epoch));
                    topics.put(name, new ModelTopic(known.id, partitions));
                }
            }
        }

        boolean isSameAs(Model other) {
            return nodes.equals(other.nodes) && topics.equals(other.topics) && errors.equals(other.errors);
        }
    }

    @Property(tries = 1_000)
    void shouldSayWhatPlainMapsSayInEachOfItsVersions(@ForAll("steps") List<Step> steps) {
        List<ClusterImage> images = new ArrayList<>(List.of(BOOTSTRAP));
        List<Model> models = new ArrayList<>(List.of(Model.of(BOOTSTRAP)));
        Map<String, Integer> indexes = new HashMap<>();

        for (Step step : steps) {
            ClusterImage before = images.get(images.size() - 1);
            Model model = models.get(models.size() - 1).copy();
            ClusterImage image = apply(step, before, model);
            images.add(image);
            models.add(model);
            for (String name : NAMES) {
                if (image.topic(name) != null) {
                    int index = image.topic(name).index();
                    assertThat(indexes.computeIfAbsent(name, unseen -> index)).isEqualTo(index);
                }
            }
        }

        for (int i = 0; i < images.size(); i++) {
            Model seen = Model.of(images.get(i));
            assertThat(seen.isSameAs(models.get(i)))
                    .as("%s and %s", seen, models.get(i))
                    .isTrue();
        }
        assertThat(indexes.values()).as("one name each").doesNotHaveDuplicates();
    }

    /** Does the same to both, and compares what each says of whether anything changed. */
    private static ClusterImage apply(Step step, ClusterImage before, Model model) {
        Model modelBefore = model.copy();
        switch (step.kind) {
            case ANSWER, ANSWER_FOR_ALL -> model.answer(step);
            case ERROR -> model.error(step);
            case HINT -> model.hint(step);
            case REBOOTSTRAP -> {
                model.nodes.clear();
                model.nodes.add(-1);
            }
        }
        if (step.kind == Kind.HINT) {
            ClusterImage hinted = before.withLeaderHints(hints(step), List.of());
            assertThat(hinted == before).isEqualTo(model.isSameAs(modelBefore));
            return hinted;
        }
        if (step.kind == Kind.REBOOTSTRAP) {
            return before.withNodesOf(BOOTSTRAP);
        }
        ClusterDelta delta = delta(step);
        ClusterImage next = before.withDelta(delta);
        assertThat(next.isDifferentFrom(before, delta)).isEqualTo(!model.isSameAs(modelBefore));
        assertThat(next.version()).isEqualTo(before.version() + 1);
        return next;
    }

    private static ClusterDelta delta(Step step) {
        if (step.kind == Kind.ERROR) {
            Map<String, ApiException> errors = step.topics.stream()
                    .collect(Collectors.toMap(name -> name, name -> new UnknownTopicOrPartitionException()));
            return new ClusterDelta(null, List.of(), List.of(), errors, false);
        }
        int[] leaders = new int[step.partitions];
        Arrays.fill(leaders, step.leader);
        int[] epochs = new int[step.partitions];
        Arrays.fill(epochs, step.epoch);
        int[][] nobody = new int[step.partitions][0];
        List<TopicImage> topics = step.topics.stream()
                .map(name -> new TopicImage(name, step.id, leaders, epochs, new Replicas(nobody, nobody, nobody)))
                .toList();
        return new ClusterDelta(null, brokers(step), topics, Map.of(), step.kind == Kind.ANSWER_FOR_ALL);
    }

    /** One of the three brokers may be gone. */
    private static List<Node> brokers(Step step) {
        return step.partitions == 1 ? List.of(node(1), node(2)) : List.of(node(1), node(2), node(3));
    }

    private static List<LeaderHint> hints(Step step) {
        return step.topics.stream()
                .map(name -> new LeaderHint(name, step.id, step.partitions - 1, step.leader, step.epoch))
                .toList();
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(
                        Arbitraries.of(Kind.class),
                        Arbitraries.of(NAMES).set().ofMinSize(1),
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.of(ID, OTHER_ID))
                .as(Step::new)
                .list()
                .ofMaxSize(20);
    }
}
