package dev.millrace.mirror.topics;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.oracle.TopicDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.mirror.RemoteClusterUtils;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Mirrors between two real clusters whose copies have other names. */
@Tag("thorough")
class TopicNamesIT {
    private static final Duration STOP = Duration.ofSeconds(60);
    private static final int PARTITIONS = 2;
    private static final int RECORDS = 2_000;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    /** One mirror for each way to copy, of a topic with a prefix and one with a name that is given. */
    private enum Way {
        CONSUMER("--mode=consumer"),
        BATCHES("--mode=batches --source-setting=metadata.max.age.ms=500"),
        RECORDS("--mode=records --on-refused=skip"),
        EXACTLY_ONCE("--mode=auto --resume=exactly-once");

        private final String options;

        Way(String options) {
            this.options = options;
        }

        String prefixed() {
            return "orders-" + this;
        }

        String mapped() {
            return "audit-" + this;
        }

        String mappedTo() {
            return "eu.trail-" + this;
        }

        boolean isGroupOnTarget() {
            return this == EXACTLY_ONCE;
        }

        String[] args(String command, String prefix, String... more) {
            List<String> args = new ArrayList<>(List.of(
                    command,
                    "--source=" + clusters.source().bootstrapServers(),
                    "--target=" + clusters.target().bootstrapServers(),
                    "--topics=.*-" + this,
                    "--group=" + this,
                    "--topic-prefix=" + prefix,
                    "--topic-name=" + mapped() + "=" + mappedTo()));
            args.addAll(List.of(options.split(" ")));
            args.addAll(List.of(more));
            return args.toArray(String[]::new);
        }
    }

    @Test
    void shouldCopyEachRecordToTheTopicOfItsOtherNameInEachMode() throws Exception {
        for (Way way : Way.values()) {
            for (String topic : List.of(way.prefixed(), way.mapped())) {
                clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
                clusters.fill(topic, PARTITIONS, RECORDS, 1);
            }
        }
        clusters.target().createTopic("eu." + Way.CONSUMER.prefixed(), 1, 1, Map.of()); // it is to grow
        TopicPartition read = new TopicPartition(Way.RECORDS.prefixed(), 0);
        TopicPartition copy = new TopicPartition("eu." + Way.RECORDS.prefixed(), 0);
        clusters.commit("readers", Map.of(read, new OffsetAndMetadata(400)));
        String[] groups = {"--groups=readers", "--groups-interval=1s", "--mm2-checkpoints=old"};

        Map<Way, MirrorProcess> mirrors = new HashMap<>();
        try {
            for (Way way : Way.values()) {
                String[] more = way == Way.RECORDS ? groups : new String[0];
                mirrors.put(way, MirrorProcess.start(way.args("run", "eu.", more)));
            }
            mirrors.forEach((way, mirror) -> await("all is committed", () -> isAllCommitted(way), mirror));
            await(
                    "the group is kept",
                    () -> onTarget("readers").containsKey(copy)
                            && onTarget("readers").get(copy).offset() == 400,
                    mirrors.get(Way.RECORDS));

            assertThat(onTarget("readers")).containsOnlyKeys(copy);
            refuseATopicThatAppears(mirrors.get(Way.BATCHES));
            for (MirrorProcess mirror : mirrors.values()) {
                assertThat(mirror.terminate().awaitExit(STOP))
                        .as(mirror.output())
                        .isZero();
            }
        } finally {
            mirrors.values().forEach(MirrorProcess::close);
        }

        assertThat(RemoteClusterUtils.translateOffsets(clusters.target().clientConfig(), "old", "readers", STOP))
                .containsOnlyKeys(copy);
        for (Way way : Way.values()) {
            requireSame(way.prefixed(), "eu." + way.prefixed());
            requireSame(way.mapped(), way.mappedTo());
        }
        assertThat(topicsOfTarget()).doesNotContain("orders-BATCHES", "audit-BATCHES", "trail-BATCHES");
        verifyAndPlan();
        refuseOtherNames();
    }

    private static boolean isAllCommitted(Way way) {
        String group = way.toString();
        return way.isGroupOnTarget()
                ? clusters.committedOnTarget(group) >= 2 * RECORDS
                : clusters.committed(group) >= 2 * RECORDS;
    }

    /** It would be written to the topic of another. */
    private static void refuseATopicThatAppears(MirrorProcess mirror) throws Exception {
        clusters.source().createTopic("trail-BATCHES", 1, 1, Map.of());
        clusters.fill("trail-BATCHES", 1, 100, 3);
        await(
                "the new topic is refused",
                () -> mirror.hasPrinted(
                        "Topic trail-BATCHES would be eu.trail-BATCHES on the target, which --topic-name"
                                + " gives to topic audit-BATCHES"),
                mirror);
        clusters.fill(Way.BATCHES.prefixed(), PARTITIONS, 500, 4);
        await("the others go on", () -> clusters.committed("BATCHES") == 2 * RECORDS + 500, mirror);
    }

    private static void requireSame(String topic, String name) {
        Map<String, Object> reader = new HashMap<>(clusters.target().clientConfig());
        reader.put("isolation.level", "read_committed");
        var found = TopicDigest.read(clusters.source().clientConfig(), topic).compare(TopicDigest.read(reader, name));
        assertThat(found.isExact()).as("%s -> %s: %s", topic, name, found).isTrue();
    }

    private static void verifyAndPlan() throws Exception {
        for (Way way : List.of(Way.RECORDS, Way.EXACTLY_ONCE)) {
            try (MirrorProcess verify = MirrorProcess.start(way.args("verify", "eu."))) {
                assertThat(verify.awaitExit(STOP)).as(verify.output()).isZero();
                System.out.println(verify.output());
                assertThat(verify.output())
                        .contains(way.prefixed() + " -> eu." + way.prefixed(), "2 topics: 2 the same; ")
                        .contains(way.mapped() + " -> " + way.mappedTo());
            }
        }
        try (MirrorProcess plan = MirrorProcess.start(Way.CONSUMER.args("plan", "eu."));
                MirrorProcess failover =
                        MirrorProcess.start(Way.RECORDS.args("failover", "eu.", "--plan", "--groups=readers"))) {
            assertThat(plan.awaitExit(STOP)).as(plan.output()).isZero();
            System.out.println(plan.output());
            assertThat(plan.output())
                    .containsPattern("orders-CONSUMER -> eu.orders-CONSUMER +2 +2,000 +0 +none")
                    .contains("2 topics, at most 0 records to mirror");
            assertThat(failover.awaitExit(STOP)).as(failover.output()).isZero();
            System.out.println(failover.output());
            assertThat(failover.output()).containsPattern("-> eu.orders-RECORDS +0 +400 +400 +0 ");
        }
    }

    /** With another prefix it would go on in a topic that has nothing of what was copied. */
    private static void refuseOtherNames() throws Exception {
        for (Way way : List.of(Way.BATCHES, Way.EXACTLY_ONCE)) {
            try (MirrorProcess mirror = MirrorProcess.start(way.args("run", "us."))) {
                assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isEqualTo(1);
                assertThat(mirror.output())
                        .contains("has copied topic " + way.prefixed() + " to eu." + way.prefixed()
                                + " on the target, and now its name there would be us." + way.prefixed());
            }
        }
        assertThat(topicsOfTarget()).noneMatch(topic -> topic.startsWith("us."));
    }

    private static Map<TopicPartition, OffsetAndMetadata> onTarget(String group) {
        return clusters.positionsOnTarget(group);
    }

    private static Set<String> topicsOfTarget() {
        return get(clusters.target().admin().listTopics().names());
    }

    @Test
    void shouldRefuseToWriteWhatAMirrorInTheOppositeDirectionReads() throws Exception {
        clusters.source().createTopic("ring", 1, 1, Map.of());
        clusters.target().createTopic("ring", 1, 1, Map.of());
        clusters.target().createTopic("eu.ring", 1, 1, Map.of());
        try (MirrorProcess back = MirrorProcess.start(
                "run",
                "--source=" + clusters.target().bootstrapServers(),
                "--target=" + clusters.source().bootstrapServers(),
                "--topics=(eu\\.)?ring",
                "--topic-prefix=us.",
                "--status=1")) {
            await("the other mirror is assigned its partitions", () -> back.hasPrinted("lag 0"), back);

            try (MirrorProcess endless = plan("--topics=(us\\..*)?ring", "--topic-prefix=eu.");
                    MirrorProcess apart = plan("--topics=ring", "--topic-prefix=de.")) {
                assertThat(endless.awaitExit(STOP)).as(endless.output()).isEqualTo(1);
                assertThat(endless.output())
                        .contains(
                                "The mirror would not start: ", "belongs to a mirror back to the source, of [eu.ring]");
                assertThat(apart.awaitExit(STOP)).as(apart.output()).isZero();
                assertThat(apart.output()).contains("ring -> de.ring");
            }
        }
    }

    /** Nobody reads yet what it would write. */
    @Test
    void shouldRefuseToReadWhatAMirrorInTheOppositeDirectionWrites() throws Exception {
        clusters.source().createTopic("circle", 1, 1, Map.of());
        clusters.fill("circle", 1, 100, 5);
        try (MirrorProcess first = MirrorProcess.start(
                "run",
                "--source=" + clusters.source().bootstrapServers(),
                "--target=" + clusters.target().bootstrapServers(),
                "--group=first-of-circle",
                "--topics=.*circle",
                "--topic-prefix=eu.")) {
            await("it has committed", () -> clusters.committed("first-of-circle") == 100, first);

            String[] back = {
                "run",
                "--source=" + clusters.target().bootstrapServers(),
                "--target=" + clusters.source().bootstrapServers(),
                "--group=back-of-circle",
                "--topics=.*circle",
                "--topic-prefix=us."
            };
            try (MirrorProcess endless = MirrorProcess.start(back)) {
                assertThat(endless.awaitExit(STOP)).as(endless.output()).isEqualTo(1);
                assertThat(endless.output()).contains("first-of-circle", "which writes [eu.circle] there");
            }
            back[0] = "plan";
            try (MirrorProcess plan = MirrorProcess.start(back)) {
                assertThat(plan.awaitExit(STOP)).as(plan.output()).isEqualTo(1);
                assertThat(plan.output()).contains("The mirror would not start: ", "which writes [eu.circle] there");
            }
            assertThat(get(clusters.source().admin().listTopics().names())).doesNotContain("us.eu.circle");
            assertThat(first.isAlive()).isTrue();
        }
    }

    @Test
    void shouldLeaveOutTopicsThatCannotHaveTheirNamesAndGoOnWithAllOthers() throws Exception {
        for (String topic : List.of("clash-a", "clash-b", "clash.c")) {
            clusters.source().createTopic(topic, 1, 1, Map.of());
            clusters.fill(topic, 1, 10, 1);
        }
        clusters.target().createTopic("eu.clash_c", 1, 1, Map.of());
        clusters.target().createTopic("eu.clash_d", 1, 1, Map.of());
        String[] options = {
            "--topics=clash.*",
            "--topic-name=clash-a=eu.clash-b",
            "--topic-prefix=eu.",
            "--group=clash",
            "--wait-for-target=12s", // less than the mirror runs without these topics
            "--source-setting=metadata.max.age.ms=500"
        };
        String why = "Topic clash-b would be eu.clash-b on the target, which --topic-name gives to topic clash-a";

        try (MirrorProcess plan = plan(options);
                MirrorProcess run = MirrorProcess.start(args("run", options))) {
            assertThat(plan.awaitExit(STOP)).as(plan.output()).isEqualTo(1);
            assertThat(plan.output()).contains(why, "the target has topic eu.clash_c");
            await("the first is copied", () -> clusters.committed("clash") == 10, run);
            await("it says which are not", () -> run.hasPrinted("collides with existing topic: eu.clash_c"), run);
            assertThat(run.hasPrinted(why)).isTrue();

            clusters.source().createTopic("clash.d", 1, 1, Map.of());
            clusters.fill("clash.d", 1, 10, 1);
            await("it says it of a new one", () -> run.hasPrinted("collides with existing topic: eu.clash_d"), run);
            clusters.fill("clash-a", 1, 10, 2);
            await("the first goes on", () -> clusters.committed("clash") == 20, run);

            get(clusters.target().admin().deleteTopics(List.of("eu.clash_c")).all());
            await("the second is copied once its name is free", () -> clusters.committed("clash") == 30, run);
            requireSame("clash.c", "eu.clash.c");
        }
        assertThat(topicsOfTarget()).contains("eu.clash-b", "eu.clash.c").doesNotContain("eu.clash.d");
    }

    private static MirrorProcess plan(String... more) {
        return MirrorProcess.start(args("plan", more));
    }

    private static String[] args(String command, String... more) {
        return Stream.concat(
                        Stream.of(
                                command,
                                "--source=" + clusters.source().bootstrapServers(),
                                "--target=" + clusters.target().bootstrapServers()),
                        Stream.of(more))
                .toArray(String[]::new);
    }
}
