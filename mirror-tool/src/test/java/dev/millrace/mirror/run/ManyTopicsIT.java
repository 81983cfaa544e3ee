package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.proxy.FaultProxy;
import dev.millrace.testkit.proxy.SlowLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A start with many topics over long lines asks for many of them at a time. */
@Tag("thorough")
@Tag("long")
class ManyTopicsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    /** {@code -Dmillrace.topics=2000} for more than CI has time for. */
    private static final int TOPICS = Integer.getInteger("millrace.topics", 100);

    private static final Duration ROUND_TRIP = Duration.ofMillis(80);
    private static final long BYTES_PER_SECOND = 100_000_000;
    /** Per topic, each of one partition. */
    private static final int RECORDS = 5;
    /** How many topics are read back. */
    private static final int SAMPLE = 5;
    /** What a start asks for topics; others are sent as long as it runs. */
    private static final Set<ApiKeys> OF_A_START = Set.of(
            ApiKeys.DESCRIBE_CONFIGS,
            ApiKeys.CREATE_TOPICS,
            ApiKeys.DESCRIBE_TOPIC_PARTITIONS,
            ApiKeys.LIST_OFFSETS,
            ApiKeys.OFFSET_FETCH,
            ApiKeys.DESCRIBE_PRODUCERS,
            ApiKeys.INIT_PRODUCER_ID,
            ApiKeys.METADATA);

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(builder -> builder.listeners(Listener.PROXIED)
            .setting("log.index.size.max.bytes", "65536")
            .setting("offsets.topic.num.partitions", "1"));

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private final Map<KafkaCluster, SlowLink> links = new HashMap<>();

    @BeforeEach
    void makeLinesLong() {
        for (KafkaCluster cluster : List.of(clusters.source(), clusters.target())) {
            FaultProxy proxy = cluster.proxy(1);
            SlowLink link = new SlowLink(proxy.target(), BYTES_PER_SECOND, ROUND_TRIP);
            proxy.setTarget(link.port());
            links.put(cluster, link);
        }
    }

    @AfterEach
    void makeLinesShort() {
        links.forEach((cluster, link) -> {
            cluster.proxy(1).setTarget(link.targetPort());
            link.close();
        });
    }

    @Test
    void shouldCreateManyTopicsAndBeginThemInFewRequests() throws Exception {
        String group = "created";
        create(clusters.source(), group);

        shouldCopyInFewRequests(group, RECORDS, "--mode=auto");
    }

    @Test
    void shouldBeginManyTopicsThatTheTargetHasInFewRequests() throws Exception {
        String group = "present";
        create(clusters.source(), group);
        create(clusters.target(), group);

        shouldCopyInFewRequests(group, RECORDS, "--mode=auto");
    }

    @Test
    void shouldGoOnWithManyTopicsInFewRequests() throws Exception {
        String group = "restarted";
        create(clusters.source(), group);
        shouldCopyInFewRequests(group, RECORDS, "--mode=auto");

        shouldCopyInFewRequests(group, 2 * RECORDS, "--mode=auto");
    }

    @Test
    void shouldBeginManyTopicsExactlyOnceInFewRequests() throws Exception {
        String group = "once";
        create(clusters.source(), group);

        shouldCopyInFewRequests(group, RECORDS, "--resume=exactly-once");
    }

    @Test
    void shouldBeginManyTopicsWithConsumersInFewRequests() throws Exception {
        String group = "polled";
        create(clusters.source(), group);

        shouldCopyInFewRequests(group, RECORDS, "--mode=consumer");
    }

    private void shouldCopyInFewRequests(String group, int recordsPerTopic, String option) throws Exception {
        try (Producer<byte[], byte[]> producer =
                StockProducers.create(clusters.source().clientConfig())) {
            topics(group).forEach(topic -> clusters.fill(producer, topic, 1, RECORDS, seed));
        }
        long before = copied(group);
        Map<String, Long> asked = requests();
        long start = System.nanoTime();
        try (MirrorProcess mirror = mirror(group, option)) {
            await("the first are copied", () -> copied(group) > before, mirror);
            long first = System.nanoTime();
            await("all are copied", () -> copied(group) >= (long) TOPICS * recordsPerTopic, mirror);
            long last = System.nanoTime();
            Map<String, Long> requests = requests();
            requests.replaceAll((kind, count) -> count - asked.get(kind));
            System.out.printf(
                    "ManyTopicsIT, %s: %d topics, the first %.1f s after the start, all %.1f s after that; asked %s%n",
                    group, TOPICS, (first - start) / 1e9, (last - first) / 1e9, requests);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            if (option.equals("--mode=consumer")) {
                requests.remove("source " + ApiKeys.LIST_OFFSETS); // Kafka's consumer asks for each partition's lag
            }
            assertThat(requests).allSatisfy((kind, count) -> assertThat(count).isLessThan(TOPICS / 2));
        }
        for (String topic : topics(group).subList(0, SAMPLE)) {
            assertThat(clusters.compareForCommittedReader(topic))
                    .as("%s, seed %d", topic, seed)
                    .matches(Comparison::isExact);
        }
    }

    private static Map<String, Long> requests() {
        Map<String, Long> requests = new TreeMap<>();
        for (ApiKeys kind : OF_A_START) {
            requests.put("source " + kind, clusters.source().proxy(1).requests(kind));
            requests.put("target " + kind, clusters.target().proxy(1).requests(kind));
        }
        return requests;
    }

    private static List<String> topics(String group) {
        return IntStream.range(0, TOPICS).mapToObj(i -> group + "." + i).toList();
    }

    private static void create(KafkaCluster cluster, String group) {
        get(cluster.admin()
                .createTopics(topics(group).stream()
                        .map(topic -> new NewTopic(topic, 1, (short) 1))
                        .toList())
                .all());
    }

    private static long copied(String group) {
        Collection<String> present =
                new HashSet<>(get(clusters.target().admin().listTopics().names()));
        present.retainAll(topics(group));
        Map<TopicPartition, OffsetSpec> ends =
                present.stream().collect(Collectors.toMap(t -> new TopicPartition(t, 0), t -> OffsetSpec.latest()));
        return get(clusters.target().admin().listOffsets(ends).all()).values().stream()
                .mapToLong(end -> end.offset())
                .sum();
    }

    private static MirrorProcess mirror(String group, String... more) {
        List<String> args = new ArrayList<>(List.of(
                "run",
                "--source=" + clusters.source().bootstrapServers(Listener.PROXIED),
                "--target=" + clusters.target().bootstrapServers(Listener.PROXIED),
                "--topics=" + group + "[.].*",
                "--threads=2",
                "--group=" + group));
        args.addAll(List.of(more));
        return MirrorProcess.start(args.toArray(String[]::new));
    }
}
