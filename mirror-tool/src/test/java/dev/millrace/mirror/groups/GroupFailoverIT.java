package dev.millrace.mirror.groups;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.common.protocol.ApiKeys;
import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.MovingLeaders;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.proxy.FaultProxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.connect.mirror.Mm2Translation;
import org.apache.kafka.connect.mirror.RemoteClusterUtils;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups of the source that go on at the target: what they see there is what they would have seen at the source. */
class GroupFailoverIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 2;
    private static final int GROUPS = 6;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(
            source -> source.listeners(Listener.PROXIED),
            target -> target.brokers(3).listeners(Listener.PROXIED));

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private int lastRecord;

    @Tag("thorough")
    @ParameterizedTest
    @CsvSource({"auto, exact, source", "auto, exactly-once, target", "consumer, at-least-once, source"})
    void shouldLetGroupsGoOnWithEachRecordOnce(String mode, String resume, String syncsLocation) throws Exception {
        String topic = mode + "-" + resume;
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        String alias = topic + "-source";
        String[] options = {
            "--mode=" + mode,
            "--resume=" + resume,
            "--groups=" + topic + "-g.*",
            "--groups-interval=1s",
            "--mm2-checkpoints=" + alias,
            "--mm2-offset-syncs=" + (syncsLocation.equals("source") ? topic + "-target" : alias),
            "--mm2-offset-syncs-location=" + syncsLocation
        };
        Map<String, Map<TopicPartition, Long>> committed;
        try (MovingLeaders leaders = new MovingLeaders(clusters.target(), topic, PARTITIONS, Map.of())) {
            writeWithMarkers(topic);
            mirrorAll(topic, false, options);
            writeWithMarkers(topic);
            committed = commitSomewhere(topic);

            mirrorAll(topic, true, options);
            assertThat(leaders.moves()).isPositive();
        }

        Map<String, Map<TopicPartition, OffsetAndMetadata>> checkpoints = RemoteClusterUtils.translateOffsets(
                clusters.target().clientConfig(), alias, Pattern.compile(".*"), STOP);
        assertThat(checkpoints.keySet()).isEqualTo(committed.keySet());
        for (String group : committed.keySet()) {
            Map<TopicPartition, OffsetAndMetadata> there = onTarget(group);
            assertThat(there.keySet())
                    .as("%s, seed %d", group, seed)
                    .isEqualTo(committed.get(group).keySet());
            assertThat(checkpoints.get(group)).as("%s, seed %d", group, seed).isEqualTo(there);
            there.forEach((partition, to) -> {
                List<String> left = values(
                        clusters.source(), partition, committed.get(group).get(partition));
                List<String> seen = values(clusters.target(), partition, to.offset());
                String at = group + " " + partition + " at " + to.offset() + ", seed " + seed;
                assertThat(seen).as(at).hasSameSizeAs(left);
                assertThat(seen.equals(left)).as(at).isTrue();
            });
        }
        requireThatMirrorMaker2SkipsNothing(topic, syncsLocation, committed);
    }

    /** It goes on at the last record that it knows of: exactly, if the group has read all. */
    private void requireThatMirrorMaker2SkipsNothing(
            String topic, String syncsLocation, Map<String, Map<TopicPartition, Long>> committed) {
        Map<String, String> connector = Map.of(
                "name",
                "any",
                "connector.class",
                "MirrorCheckpointConnector",
                "source.cluster.alias",
                topic + "-source",
                "target.cluster.alias",
                topic + "-target",
                "source.cluster.bootstrap.servers",
                clusters.source().bootstrapServers(),
                "target.cluster.bootstrap.servers",
                clusters.target().bootstrapServers(),
                "offset-syncs.topic.location",
                syncsLocation);
        try (Mm2Translation maker2 = new Mm2Translation(connector)) {
            committed.forEach((group, of) -> of.forEach((partition, offset) -> {
                long to = maker2.translate(partition, offset).orElseThrow();
                String at = group + " " + partition + " at " + offset + " -> " + to + ", seed " + seed;
                boolean isAtEnd = group.endsWith("-g0");
                if (to >= 0) {
                    List<String> left = values(clusters.source(), partition, offset);
                    List<String> seen = values(clusters.target(), partition, to);
                    assertThat(seen).as(at).hasSizeGreaterThanOrEqualTo(left.size());
                    assertThat(seen.subList(seen.size() - left.size(), seen.size()))
                            .as(at)
                            .isEqualTo(left);
                    assertThat(seen.size() == left.size() || !isAtEnd).as(at).isTrue();
                }
                assertThat(to >= 0 || !isAtEnd).as(at).isTrue();
            }));
        }
    }

    @Tag("thorough")
    @Test
    void shouldPutGroupsAtTheStartOfATopicThatWasCreatedAnewOnTheTarget() throws Exception {
        String topic = "anew";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        writeWithMarkers(topic);
        commitSomewhere(topic);
        String group = topic + "-g0"; // which has read all
        try (MirrorProcess mirror =
                clusters.mirror(topic, 1, CopyMode.AUTO, "--groups=" + group, "--groups-interval=1s")) {
            await("it is far on the target", () -> isOnTarget(group, offset -> offset > 1_000), mirror);

            get(clusters.target().admin().deleteTopics(List.of(topic)).all());
            await("it is deleted", () -> onTarget(group).isEmpty(), mirror);
            clusters.target().createTopic(topic, PARTITIONS, 1, Map.of());
            try (KafkaProducer<byte[], byte[]> other =
                    producer(clusters.target().clientConfig())) {
                write(other, topic, 10_000);
            }

            await("it is at the start", () -> isOnTarget(group, offset -> offset == 0), mirror);
        }
    }

    /** The mirror is stopped when it writes the offsets of the first group. */
    @Tag("thorough")
    @Test
    void shouldNotSetBackGroupsThatGoOnAtTheTargetWhileTheOffsetsOfOthersAreWritten() throws Exception {
        String topic = "overtaken";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.fill(topic, PARTITIONS, 2_000, seed);
        List<String> groups = IntStream.range(0, 20)
                .mapToObj(number -> "%s-g%02d".formatted(topic, number))
                .toList();
        try (MirrorProcess mirror = clusters.mirrorThrough(
                Listener.PROXIED,
                topic,
                1,
                ProducerKind.MILLRACE,
                "--mode=auto",
                "--groups=" + topic + "-g.*",
                "--groups-interval=1s")) {
            await("all is mirrored", () -> clusters.committed(topic) == 2_000, mirror);
            List<FaultProxy> proxies = IntStream.rangeClosed(
                            1, clusters.target().brokers())
                    .mapToObj(broker -> clusters.target().proxy(broker))
                    .toList();
            LongSupplier commits = () -> proxies.stream()
                    .mapToLong(proxy -> proxy.requests(ApiKeys.OFFSET_COMMIT))
                    .sum();
            long before = commits.getAsLong();
            proxies.forEach(proxy -> proxy.limitBytesPerSecond(1_500));
            groups.forEach(group -> clusters.commit(group, everywhere(topic, 500)));
            await("the first is written", () -> commits.getAsLong() > before, mirror);
            // What the mirror has sent for one group happens now, and it sends no more until it has the responses.
            proxies.forEach(proxy -> {
                proxy.setFlow(FaultProxy.Flow.REQUESTS_ONLY);
                proxy.limitBytesPerSecond(Long.MAX_VALUE);
            });

            List<String> goOn = groups.stream()
                    .filter(group -> onTarget(group).isEmpty())
                    .skip(2) // whose turn may be now
                    .toList();
            goOn.stream()
                    .map(group -> clusters.target()
                            .admin()
                            .alterConsumerGroupOffsets(group, everywhere(topic, 900))
                            .all())
                    .toList()
                    .forEach(written -> get(written));
            proxies.forEach(proxy -> proxy.setFlow(FaultProxy.Flow.BOTH));
            await(
                    "the others are written",
                    () -> groups.stream().noneMatch(group -> onTarget(group).isEmpty()),
                    mirror);

            assertThat(goOn).hasSizeGreaterThan(5);
            for (String group : groups) {
                long at = goOn.contains(group) ? 900 : 500;
                assertThat(onTarget(group).values())
                        .as(
                                "%s of %s; mirror: %s",
                                group, goOn, mirror.printed().toList())
                        .extracting(OffsetAndMetadata::offset)
                        .containsOnly(at);
            }
        }
    }

    @Tag("thorough")
    @Test
    void shouldLeaveTheGroupsOfOtherMirrorsAlone() throws Exception {
        String topic = "of-mirrors";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.fill(topic, PARTITIONS, 2_000, seed);
        String other = topic + "-other-mirror";
        try (KafkaCluster third = KafkaCluster.builder().start();
                MirrorProcess mirror = MirrorProcess.start(
                        "run",
                        "--source=" + clusters.source().bootstrapServers(),
                        "--target=" + third.bootstrapServers(),
                        "--topics=" + topic,
                        "--group=" + other)) {
            await("the other has copied all", () -> clusters.committed(other) == 2_000, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        String consumers = topic + "-consumers";
        clusters.commit(consumers, everywhere(topic, 500));

        mirrorAll(topic, true, "--groups=" + topic + ".*", "--groups-interval=1s");

        assertThat(onTarget(consumers)).isNotEmpty();
        assertThat(onTarget(other)).isEmpty();
    }

    private static Map<TopicPartition, OffsetAndMetadata> everywhere(String topic, long offset) {
        return IntStream.range(0, PARTITIONS)
                .boxed()
                .collect(Collectors.toMap(
                        number -> new TopicPartition(topic, number), number -> new OffsetAndMetadata(offset)));
    }

    private static boolean isOnTarget(String group, LongPredicate where) {
        Map<TopicPartition, OffsetAndMetadata> there = onTarget(group);
        return there.size() == PARTITIONS
                && there.values().stream().mapToLong(OffsetAndMetadata::offset).allMatch(where);
    }

    @Test
    void shouldPlanAFailoverAndSayHowManyRecordsAreSeenTwiceAtMostAfterKills() throws Exception {
        String topic = "killed";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        String groups = "--groups=" + topic + "-g.*";
        // The next mirror need not wait long for the member that was killed.
        String[] options = {
            groups, "--source-setting=session.timeout.ms=1500", "--source-setting=heartbeat.interval.ms=300"
        };
        long records;
        try (SourceLoad load = new SourceLoad(clusters, topic, PARTITIONS, seed)) {
            for (int kill = 0; kill < 2; kill++) {
                try (MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.AUTO, options)) {
                    long before = clusters.mirrored(topic);
                    await("it writes", () -> clusters.mirrored(topic) > before + 2_000, mirror);
                    if (kill == 0) {
                        await("it keeps where they are", () -> hasMap(topic), mirror);
                    }
                    mirror.kill().awaitExit(STOP);
                }
            }
            records = load.stop();
        }
        try (MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.AUTO, options)) {
            await("all is committed", () -> clusters.committed(topic) >= records, mirror);
            mirror.terminate().awaitExit(STOP);
        }
        Map<String, Map<TopicPartition, Long>> committed = commitSomewhere(topic);

        List<FailoverPlan.Position> plan;
        try (MirrorProcess printed = MirrorProcess.start(
                "failover",
                "--plan",
                "--source=" + clusters.source().bootstrapServers(),
                "--target=" + clusters.target().bootstrapServers(),
                "--topics=" + topic,
                "--group=" + topic,
                groups)) {
            assertThat(printed.awaitExit(STOP)).as(printed.output()).isZero();
            System.out.println(printed.output());
            plan = parse(printed.output());
        }

        assertThat(plan).hasSize(GROUPS * PARTITIONS);
        long twice = 0;
        for (FailoverPlan.Position next : plan) {
            // Nothing is doubled or left out on the target, so the records' numbers say how many are seen twice.
            long source = committed.get(next.group()).get(next.partition());
            twice += source - next.target();
            assertThat(next.source()).isEqualTo(source);
            assertThat(next.target()).as("%s, seed %d", next, seed).isLessThanOrEqualTo(source);
            assertThat(source - next.target()).as("%s, seed %d", next, seed).isLessThanOrEqualTo(next.twiceAtMost());
        }
        System.out.printf("%,d records: %,d would be seen twice%n", records, twice);
        assertThat(onTarget(topic + "-g0")).as("the plan changes nothing").isEmpty();
    }

    /** The rows that the command prints. */
    private static List<FailoverPlan.Position> parse(String output) {
        return output.lines()
                .map(line -> line.replace(",", "").trim().split(" +"))
                .filter(words -> words.length == 7 && words[2].matches("\\d+"))
                .map(words -> new FailoverPlan.Position(
                        words[0],
                        new TopicPartition(words[1], Integer.parseInt(words[2])),
                        Long.parseLong(words[3]),
                        Long.parseLong(words[4]),
                        Long.parseLong(words[5]),
                        Long.parseLong(words[6]),
                        false))
                .toList();
    }

    private static boolean hasMap(String group) {
        String map = OffsetMapTopic.name(group);
        return get(clusters.target().admin().listTopics().names()).contains(map) && clusters.mirrored(map) > 0;
    }

    /** Mirrors until nothing is left, and stops. */
    private static void mirrorAll(String topic, boolean hasGroups, String... options) throws Exception {
        try (MirrorProcess mirror = clusters.mirror(topic, 1, ProducerKind.MILLRACE, options)) {
            await(
                    "all is mirrored",
                    () -> Math.max(clusters.committed(topic), clusters.committedOnTarget(topic))
                            >= clusters.written(topic),
                    mirror);
            if (hasGroups) {
                await("its groups are on the target", () -> mirror.hasPrinted("kept on the target"), mirror);
            }
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
    }

    /** Transactions of all sizes, some aborted, and records in none. */
    private void writeWithMarkers(String topic) {
        Map<String, Object> config = new HashMap<>(clusters.source().clientConfig());
        try (KafkaProducer<byte[], byte[]> plain = producer(config)) {
            config.put("transactional.id", topic);
            try (KafkaProducer<byte[], byte[]> transactional = producer(config)) {
                transactional.initTransactions();
                for (int i = 0; i < 30; i++) {
                    write(plain, topic, random.nextInt(400));
                    plain.flush();
                    transactional.beginTransaction();
                    write(transactional, topic, 1 + random.nextInt(200));
                    if (random.nextInt(4) == 0) {
                        transactional.flush();
                        transactional.abortTransaction();
                    } else {
                        transactional.commitTransaction();
                    }
                }
            }
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, Object> config) {
        return StockProducers.create(config);
    }

    private void write(KafkaProducer<byte[], byte[]> producer, String topic, int records) {
        for (int i = 0; i < records; i++) {
            byte[] value = Integer.toString(lastRecord++).getBytes(StandardCharsets.UTF_8);
            var unused = producer.send(new ProducerRecord<>(topic, random.nextInt(PARTITIONS), null, value));
        }
    }

    /** As groups do that have read up to somewhere. */
    private Map<String, Map<TopicPartition, Long>> commitSomewhere(String topic) {
        Map<TopicPartition, Long> ends = Clusters.endOffsets(clusters.source().admin(), topic, PARTITIONS);
        Map<String, Map<TopicPartition, Long>> all = new TreeMap<>();
        for (int i = 0; i < GROUPS; i++) {
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            Map<TopicPartition, Long> plain = new HashMap<>();
            boolean isAtEnd = i == 0;
            ends.forEach((partition, end) -> {
                long offset = isAtEnd ? end : random.nextLong(end);
                offsets.put(partition, new OffsetAndMetadata(offset));
                plain.put(partition, offset);
            });
            String group = topic + "-g" + i;
            clusters.commit(group, offsets);
            all.put(group, plain);
        }
        return all;
    }

    private static Map<TopicPartition, OffsetAndMetadata> onTarget(String group) {
        return get(clusters.target().admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    }

    /** What a consumer of committed records sees from an offset on. */
    private static List<String> values(KafkaCluster cluster, TopicPartition partition, long from) {
        Map<String, Object> config = new HashMap<>(cluster.clientConfig());
        config.put("isolation.level", "read_committed");
        config.put("auto.offset.reset", "none");
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, from);
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    values.add(new String(record.value(), StandardCharsets.UTF_8));
                }
            }
        }
        return values;
    }
}
