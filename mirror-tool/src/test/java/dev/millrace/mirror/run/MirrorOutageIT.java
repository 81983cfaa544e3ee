package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.cluster.SmallDisk;
import dev.millrace.testkit.oracle.Comparison;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A mirror whose clusters are not as it needs them: it waits, says so, and goes on. In all modes, side by side. */
@Tag("thorough")
@Tag("long")
class MirrorOutageIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final List<CopyMode> MODES = List.of(CopyMode.CONSUMER, CopyMode.RECORDS, CopyMode.BATCHES);
    private static final int PARTITIONS = 2;
    private static final int STEP = 20_000;
    private static final long DISK_BYTES = 64 << 20;
    private static final long NEARLY_FULL_BYTES = 100_000;

    /** Of the target's second broker; empty if this user may not mount one. */
    private static Optional<SmallDisk> disk;

    private static MirrorFixture clusters;

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @TempDir
    private Path folder;

    @BeforeAll
    static void startClusters() {
        disk = SmallDisk.mount(DISK_BYTES);
        clusters = new MirrorFixture(source -> source, target -> {
            disk.ifPresent(small -> target.dataFolder(2, small.folder()));
            // One of the two brokers is enough for transactions, as two of three are for an operator.
            return target.brokers(2).setting("transaction.state.log.min.isr", "1");
        });
    }

    @AfterAll
    static void stopClusters() {
        clusters.close();
        disk.ifPresent(SmallDisk::close);
    }

    @Test
    void shouldWaitForATargetThatIsAway() throws Exception {
        Map<CopyMode, String> topics = topics("away");
        String limited = topic("limited");
        String stopped = topic("stopped");
        try (Mirrors mirrors = new Mirrors(topics);
                MirrorProcess impatient = clusters.mirror(limited, 1, CopyMode.BATCHES, "--wait-for-target=3s");
                MirrorProcess terminated = clusters.mirror(stopped, 1, CopyMode.CONSUMER)) {
            mirrors.awaitCommitted(STEP);
            await("the others have begun", () -> clusters.committed(limited) == STEP, impatient);
            await("the others have begun", () -> clusters.committed(stopped) == STEP, terminated);

            clusters.target().kill(2);
            clusters.target().kill(1);
            topics.values().forEach(topic -> clusters.fill(topic, PARTITIONS, STEP, seed + 1));
            clusters.fill(limited, PARTITIONS, STEP, seed + 1);
            clusters.fill(stopped, PARTITIONS, STEP, seed + 1);
            mirrors.awaitPrinted("the mirror waits");
            terminated.terminate();
            assertThat(impatient.awaitExit(STOP)).isEqualTo(1);
            assertThat(terminated.awaitExit(STOP)).isEqualTo(1);
            mirrors.assertMembers();
            clusters.target().restart(1);
            clusters.target().restart(2);

            mirrors.awaitCommitted(2 * STEP);
            mirrors.awaitPrinted("The target takes all records again, after ");
            mirrors.stop();
            assertThat(impatient.output()).contains("--wait-for-target", "the target does not answer");
            assertThat(terminated.output()).contains("The target has not acknowledged the last records of");
        }
        for (String topic : topics.values()) {
            assertThat(clusters.compare(topic)).as("%s, seed %d", topic, seed).matches(Comparison::isExact);
        }
        assertThat(clusters.committed(limited)).isEqualTo(STEP);
        assertThat(clusters.committed(stopped)).isEqualTo(STEP);
        assertThat(copyRest(limited, CopyMode.BATCHES, ResumeMode.EXACT)).matches(Comparison::isExact);
        assertThat(copyRest(stopped, CopyMode.CONSUMER, ResumeMode.AT_LEAST_ONCE))
                .matches(Comparison::isCompleteWithDuplicates);
    }

    /** Has the next start copy what is left of two steps, and compares each record. */
    private Comparison copyRest(String topic, CopyMode mode, ResumeMode resume) throws InterruptedException {
        try (MirrorProcess next = clusters.mirror(topic, 1, mode, "--resume=" + resume)) {
            await(
                    "the rest is copied",
                    () -> clusters.committed(topic) + clusters.committedOnTarget(topic) == 2 * STEP,
                    next);
            assertThat(next.terminate().awaitExit(STOP)).as(next.output()).isZero();
        }
        Comparison comparison =
                resume == ResumeMode.EXACTLY_ONCE ? clusters.compareForCommittedReader(topic) : clusters.compare(topic);
        System.out.printf("%s, seed %d: %s%n", topic, seed, comparison);
        return comparison;
    }

    @ParameterizedTest
    @CsvSource({"CONSUMER, AT_LEAST_ONCE", "AUTO, EXACT", "AUTO, EXACTLY_ONCE"})
    void shouldStopSoonWhenTheTargetHasJustGoneAway(CopyMode mode, ResumeMode resume) throws Exception {
        String topic = topic("just-gone-" + mode + "-" + resume);
        try (MirrorProcess mirror = clusters.mirror(topic, 1, mode, "--resume=" + resume)) {
            await("it has begun", () -> clusters.committed(topic) + clusters.committedOnTarget(topic) == STEP, mirror);

            clusters.target().kill(2);
            clusters.target().kill(1);
            clusters.fill(topic, PARTITIONS, STEP, seed + 1);
            assertThat(mirror.terminate().awaitExit(Duration.ofSeconds(15))).isEqualTo(1);

            assertThat(mirror.output())
                    .containsPattern("The target has not (acknowledged the last records of|taken the last transaction)")
                    .doesNotContain("InterruptedException", "InterruptException");
        } finally {
            clusters.target().restart(1);
            clusters.target().restart(2);
        }
        assertThat(copyRest(topic, mode, resume))
                .matches(
                        resume == ResumeMode.AT_LEAST_ONCE
                                ? Comparison::isCompleteWithDuplicates
                                : Comparison::isExact);
    }

    @Test
    void shouldSayPlainlyAtItsEndThatTheOffsetsOfGroupsAreNotWritten() throws Exception {
        String topic = topic("groups-at-the-end");
        clusters.commit("readers-at-the-end", Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(1)));
        try (MirrorProcess mirror =
                clusters.mirror(topic, 1, CopyMode.AUTO, "--groups=readers-at-the-end", "--groups-interval=1s")) {
            await(
                    "the offsets are kept",
                    () -> !clusters.positionsOnTarget("readers-at-the-end").isEmpty()
                            && clusters.committed(topic) == STEP,
                    mirror);
            clusters.target().kill(2);
            clusters.target().kill(1);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();

            assertThat(mirror.output())
                    .contains("The last offsets of groups are not written to the target: it does not answer in time")
                    .doesNotContain("InterruptedException", "InterruptException");
        } finally {
            clusters.target().restart(1);
            clusters.target().restart(2);
        }
        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldGoOnWithTheOthersWhileOnePartitionHasNoLeader() throws Exception {
        Map<CopyMode, String> topics = topics("leaderless");
        topics.values()
                .forEach(topic -> clusters.target().createTopic(topic, Map.of(0, List.of(1), 1, List.of(2)), Map.of()));
        String exactlyOnce = topic("leaderless-exactly-once");
        clusters.target().createTopic(exactlyOnce, Map.of(0, List.of(1), 1, List.of(2)), Map.of());
        String replicated = topic("replicated");
        clusters.target().createTopic(replicated, Map.of(0, List.of(1, 2), 1, List.of(1, 2)), Map.of());
        // What one partition gets meanwhile is more than this.
        Path small = Files.writeString(folder.resolve("p.properties"), "buffer.memory=400000\nbatch.size=16384\n");
        String[] options = {"--producer.config=" + small, "--groups=readers", "--groups-interval=1s"};
        try (Mirrors mirrors = new Mirrors(topics, options);
                MirrorProcess inTransactions = clusters.mirror(exactlyOnce, 1, CopyMode.AUTO, "--resume=exactly-once");
                MirrorProcess toLeaders = clusters.mirror(replicated, 1, CopyMode.BATCHES)) {
            mirrors.awaitCommitted(STEP);
            await("transactions too", () -> clusters.committedOnTarget(exactlyOnce) == STEP, inTransactions);

            clusters.target().kill(2);
            clusters.fill(exactlyOnce, PARTITIONS, 2 * STEP, seed + 1);
            clusters.fill(replicated, PARTITIONS, STEP, seed + 1);
            topics.values().forEach(topic -> clusters.fill(topic, PARTITIONS, 2 * STEP, seed + 1));
            for (String topic : topics.values()) {
                await("partition 0 of " + topic + " goes on", () -> committed(topic, 0) == 3 * STEP / 2);
                assertThat(committed(topic, 1)).isEqualTo(STEP / 2);
            }
            await(
                    "partition 0 goes on in transactions",
                    () -> clusters.positionsOnTarget(exactlyOnce)
                                    .get(new TopicPartition(exactlyOnce, 0))
                                    .offset()
                            == 3 * STEP / 2,
                    inTransactions);
            for (String topic : topics.values()) {
                TopicPartition led = new TopicPartition(topic, 0);
                OffsetAndMetadata position = new OffsetAndMetadata(100);
                clusters.commit("readers", Map.of(led, position, new TopicPartition(topic, 1), position));
                await(
                        "its group's offsets are kept",
                        () -> clusters.positionsOnTarget("readers").containsKey(led));
            }
            await("followers are missed by nobody", () -> clusters.committed(replicated) == 2 * STEP, toLeaders);
            mirrors.awaitPrinted(": 1 partition without a leader; the mirror waits, and goes on with all others");
            clusters.target().restart(2);

            mirrors.awaitCommitted(3 * STEP);
            await("transactions too", () -> clusters.committedOnTarget(exactlyOnce) == 3 * STEP, inTransactions);
            mirrors.stop();
            assertThat(inTransactions.terminate().awaitExit(STOP))
                    .as(inTransactions.output())
                    .isZero();
        }
        for (String topic : topics.values()) {
            assertThat(clusters.compare(topic)).as("%s, seed %d", topic, seed).matches(Comparison::isExact);
        }
        assertThat(clusters.compareForCommittedReader(exactlyOnce))
                .as("seed %d", seed)
                .matches(Comparison::isExact);
        assertThat(clusters.compare(replicated)).as("seed %d", seed).matches(Comparison::isExact);
    }

    /** They keep their share of the producer's memory, and all threads of the mirror meet them. */
    @Test
    void shouldGoOnInTransactionsWithTheOthersWhileHalfOfManyPartitionsHaveNoLeader() throws Exception {
        // given
        int partitions = 64;
        int records = 4 * STEP;
        long all = 3L * records;
        String topic = "half-leaderless";
        clusters.source().createTopic(topic, partitions, 1, Map.of());
        clusters.target()
                .createTopic(
                        topic,
                        IntStream.range(0, partitions).boxed().collect(toMap(p -> p, p -> List.of(1 + p % 2))),
                        Map.of());
        clusters.fill(topic, partitions, records, seed);
        Path small = Files.writeString(folder.resolve("half.properties"), "buffer.memory=4000000\n");
        try (MirrorProcess mirror =
                clusters.mirror(topic, 8, CopyMode.AUTO, "--resume=exactly-once", "--producer.config=" + small)) {
            await("it has begun", () -> clusters.committedOnTarget(topic) == records, mirror);

            // when
            clusters.target().kill(2);
            clusters.fill(topic, partitions, 2 * records, seed + 1);

            // then
            await("the other half is committed", () -> committedOnFirstBroker(topic) == all / 2, mirror);
            assertThat(clusters.committedOnTarget(topic))
                    .as("of all partitions")
                    .isLessThan(all);
            clusters.target().restart(2);
            await("all is committed", () -> clusters.committedOnTarget(topic) == all, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(clusters.compareForCommittedReader(topic))
                .as("seed %d", seed)
                .matches(Comparison::isExact);
    }

    /** That is where the even partitions are. */
    private static long committedOnFirstBroker(String topic) {
        return clusters.positionsOnTarget(topic).entrySet().stream()
                .filter(each -> each.getKey().partition() % 2 == 0)
                .mapToLong(each -> each.getValue().offset())
                .sum();
    }

    @Test
    void shouldGoOnWhenThereIsRoomAgainOnADiskThatWasFull() throws Exception {
        assumeThat(disk).as("a small disk; it takes root to mount one").isPresent();
        Map<CopyMode, String> topics = topics("full");
        topics.values()
                .forEach(topic -> clusters.target().createTopic(topic, Map.of(0, List.of(1), 1, List.of(2)), Map.of()));
        try (Mirrors mirrors = new Mirrors(topics)) {
            mirrors.awaitCommitted(STEP);

            disk.orElseThrow().fill(NEARLY_FULL_BYTES);
            topics.values().forEach(topic -> clusters.fill(topic, PARTITIONS, STEP, seed + 1));
            mirrors.awaitPrinted(": 1 partition without a leader; the mirror waits, and goes on with all others");
            for (String topic : topics.values()) {
                await("partition 0 of " + topic + " goes on", () -> committed(topic, 0) == STEP);
            }
            disk.orElseThrow().makeRoom();
            clusters.target().restart(2); // a broker without a disk ends

            mirrors.awaitCommitted(2 * STEP);
            mirrors.stop();
        }
        for (String topic : topics.values()) {
            assertThat(clusters.compare(topic)).as("%s, seed %d", topic, seed).matches(Comparison::isExact);
        }
    }

    @Test
    void shouldCreateATopicAgainThatWasDeletedFromTheTargetAndCopyAllOfIt() throws Exception {
        Map<CopyMode, String> topics = topics("deleted");
        try (Mirrors mirrors = new Mirrors(topics)) {
            mirrors.awaitCommitted(STEP);

            MirrorFixture.get(
                    clusters.target().admin().deleteTopics(topics.values()).all());
            topics.values().forEach(topic -> clusters.fill(topic, PARTITIONS, STEP, seed + 1));

            mirrors.awaitCommitted(2 * STEP);
            mirrors.awaitPrinted("is gone from the target, and what was copied of it is lost there");
            mirrors.stop();
        }
        for (String topic : topics.values()) {
            assertThat(clusters.compare(topic)).as("%s, seed %d", topic, seed).matches(Comparison::isExact);
        }
    }

    @Test
    void shouldWaitAtItsStartForTheSourceAndForATopic() throws Exception {
        String topic = "later";
        clusters.source().kill(1);
        try (MirrorProcess mirror = clusters.mirror(topic, 1, CopyMode.CONSUMER, "--wait-at-start=5m")) {
            await("it waits for the source", () -> mirror.hasPrinted("does not answer within"), mirror);
            clusters.source().restart(1);
            await("it waits for a topic", () -> mirror.hasPrinted("matches none of the source's"), mirror);
            topic(topic);

            await("all is mirrored", () -> clusters.committed(topic) == STEP, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    @Test
    void shouldEndAtOnceAtASecondInterruptAndSayWhatIsNotKnownToBeWritten() throws Exception {
        String topic = topic("interrupted");
        Path impatient = Files.writeString(
                folder.resolve("c.properties"), "session.timeout.ms=1500\nheartbeat.interval.ms=300\n");
        String[] command = {
            "run",
            "--source=" + clusters.source().bootstrapServers(),
            "--target=" + clusters.target().bootstrapServers(),
            "--topics=" + topic,
            "--group=" + topic,
            "--consumer.config=" + impatient,
            "--status=1"
        };
        try (MirrorProcess mirror = MirrorProcess.startForInterrupt(command)) {
            await("the mirror has begun", () -> clusters.committed(topic) == STEP, mirror);
            clusters.target().pause(1);
            clusters.target().pause(2);
            clusters.fill(topic, PARTITIONS, STEP, seed + 1);
            await("all is sent", () -> mirror.hasPrinted(" 20,000 in flight"), mirror);
            mirror.interrupt();
            await("it stops", () -> mirror.hasPrinted("mirror: stopping; a second Ctrl-C ends it at once"), mirror);
            mirror.interrupt();

            assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isEqualTo(130);
            assertThat(mirror.output())
                    .contains("mirror: ended at once by a second Ctrl-C; 20,000 records of 40,000 records sent to the"
                            + " target are not known to be written; the next start mirrors them, and leaves out those"
                            + " that the target has");
        } finally {
            clusters.target().resume(1);
            clusters.target().resume(2);
        }
        try (MirrorProcess next = MirrorProcess.start(command)) {
            await("the next start mirrors them", () -> clusters.committed(topic) == 2 * STEP, next);
            assertThat(next.terminate().awaitExit(STOP)).as(next.output()).isZero();
        }
        assertThat(clusters.compare(topic)).as("seed %d", seed).matches(Comparison::isExact);
    }

    private static long committed(String topic, int partition) {
        return clusters.positions(topic)
                .get(new TopicPartition(topic, partition))
                .offset();
    }

    private Map<CopyMode, String> topics(String name) {
        Map<CopyMode, String> topics = new EnumMap<>(CopyMode.class);
        MODES.forEach(mode -> topics.put(mode, topic(name + "-" + mode)));
        return topics;
    }

    /** A topic on the source, with some records. */
    private String topic(String name) {
        clusters.source().createTopic(name, PARTITIONS, 1, Map.of());
        clusters.fill(name, PARTITIONS, STEP, seed);
        return name;
    }

    /** One mirror of one topic in each mode. */
    private static final class Mirrors implements AutoCloseable {
        private final Map<String, MirrorProcess> ofTopics = new java.util.TreeMap<>();

        Mirrors(Map<CopyMode, String> topics, String... more) {
            topics.forEach((mode, topic) -> ofTopics.put(topic, clusters.mirror(topic, 2, mode, more)));
        }

        void awaitCommitted(long records) {
            ofTopics.forEach((topic, mirror) ->
                    await(records + " of " + topic, () -> clusters.committed(topic) == records, mirror));
        }

        void awaitPrinted(String text) {
            ofTopics.forEach((topic, mirror) -> await(topic + ": " + text, () -> mirror.hasPrinted(text), mirror));
        }

        void assertMembers() {
            ofTopics.keySet()
                    .forEach(group -> assertThat(MirrorFixture.get(clusters.source()
                                            .admin()
                                            .describeConsumerGroups(List.of(group))
                                            .all())
                                    .get(group)
                                    .members())
                            .as(group)
                            .isNotEmpty());
        }

        void stop() throws InterruptedException {
            ofTopics.values().forEach(MirrorProcess::terminate);
            for (MirrorProcess mirror : ofTopics.values()) {
                assertThat(mirror.awaitExit(STOP)).as(mirror.output()).isZero();
            }
        }

        @Override
        public void close() {
            ofTopics.values().forEach(MirrorProcess::close);
        }
    }
}
