package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.MovingLeaders;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.proxy.FaultProxy.Flow;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three mirrors in one group, of which one is killed, stopped, cut off or restarted, while the source is written to. */
@Tag("thorough")
@Tag("long")
@Timeout(3_600)
class ManyMirrorsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 9;
    private static final int MEMBERS = 3;
    /** {@code -Dmillrace.kills=20} for more than CI has time for. */
    private static final int KILLS = Integer.getInteger("millrace.kills", 1);

    private static final CopyMode MODE =
            CopyMode.valueOf(System.getProperty("millrace.mode", "auto").toUpperCase(Locale.ROOT));
    /** {@code -Dmillrace.resume=exactly-once}, with a mode other than {@code consumer}. */
    private static final Optional<String> RESUME = Optional.ofNullable(System.getProperty("millrace.resume"));
    /** {@code -Dmillrace.protocol=consumer} for that of KIP-848. */
    private static final String PROTOCOL = System.getProperty("millrace.protocol", "classic");

    /** So many records of each partition come after a fault before the next one. */
    private static final long MORE = 200;

    @AutoClose
    private static final MirrorFixture clusters =
            new MirrorFixture(ManyMirrorsIT::settings, target -> settings(target.brokers(3)));

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @TempDir
    private Path folder;

    private static KafkaCluster.Builder settings(KafkaCluster.Builder builder) {
        return builder.listeners(Listener.PROXIED)
                .setting("group.min.session.timeout.ms", "1000")
                .setting("group.consumer.min.session.timeout.ms", "1000")
                .setting("group.consumer.session.timeout.ms", "1500")
                .setting("group.consumer.min.heartbeat.interval.ms", "100")
                .setting("group.consumer.heartbeat.interval.ms", "300");
    }

    @Test
    void shouldKeepItsPromiseWhenMembersAreKilledStoppedCutOffAndRestarted() throws Exception {
        String topic = "many";
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        long records;
        int faults = 0;
        Fleet fleet = new Fleet(topic);
        try (MovingLeaders leaders = new MovingLeaders(clusters.target(), topic, PARTITIONS, Map.of());
                SourceLoad load = new SourceLoad(clusters, topic, PARTITIONS, seed);
                fleet) {
            fleet.startMissing();
            for (int round = 0; round < KILLS; round++) {
                fleet.kill(random.nextInt(MEMBERS));
                boolean isShort = KILLS == 1;
                if (isShort || round % 4 == 0) {
                    fleet.freeze(random.nextInt(MEMBERS));
                    faults++;
                }
                if (isShort || round % 4 == 1) {
                    fleet.cutOff(List.of(clusters.source(), clusters.target()));
                    faults++;
                }
                if (round % 4 == 2) {
                    fleet.cutOff(List.of(round % 8 == 2 ? clusters.source() : clusters.target()));
                    faults++;
                }
                if (isShort || round % 4 == 3) {
                    fleet.restartAll();
                    faults += MEMBERS;
                }
            }
            records = load.stop();
            await("all is committed", () -> committed(topic) >= records, fleet.running());
            fleet.stop();
            assertThat(leaders.moves()).isPositive();
        }
        // That of a member that was killed hides what comes after it until it times out.
        await("no transaction is open", () -> clusters.stableOnTarget(topic) == clusters.mirrored(topic));

        Comparison comparison = isExactlyOnce() ? clusters.compareForCommittedReader(topic) : clusters.compare(topic);
        System.out.printf(
                "ManyMirrorsIT: %s%s, group protocol %s, %d kills, %d other faults; the others went on within %,d ms: %s%n",
                MODE,
                RESUME.map(resume -> ", " + resume).orElse(""),
                PROTOCOL,
                KILLS,
                faults,
                fleet.longestPauseMs,
                comparison);
        assertThat(comparison.source()).isEqualTo(records);
        if (MODE.isFetching()) {
            assertThat(comparison).as("seed %d", seed).matches(Comparison::isExact);
        } else {
            assertThat(comparison.lost() + comparison.reordered() + comparison.misrouted() + comparison.unexpected())
                    .as("%s, seed %d", comparison, seed)
                    .isZero();
        }
    }

    private static boolean isExactlyOnce() {
        return RESUME.equals(Optional.of("exactly-once"));
    }

    private static KafkaCluster clusterOfTheGroup() {
        return isExactlyOnce() ? clusters.target() : clusters.source();
    }

    private static long committed(String topic) {
        return isExactlyOnce() ? clusters.committedOnTarget(topic) : clusters.committed(topic);
    }

    /** Three processes; the last one reaches the clusters through proxies. */
    private final class Fleet implements AutoCloseable {
        private final String topic;
        private final MirrorProcess[] mirrors = new MirrorProcess[MEMBERS];
        private final String[] names = new String[MEMBERS];
        private final List<MirrorProcess> ended = new ArrayList<>();
        private int started;
        private long longestPauseMs;

        Fleet(String topic) {
            this.topic = topic;
        }

        /** Starts those that do not run, and waits until each has partitions and all partitions have an owner. */
        void startMissing() throws Exception {
            for (int i = 0; i < MEMBERS; i++) {
                if (mirrors[i] == null) {
                    names[i] = "m" + started++;
                    mirrors[i] = start(names[i], i == MEMBERS - 1 ? Listener.PROXIED : Listener.PLAINTEXT);
                }
            }
            await("the group has members", () -> clusters.mirrored(topic) > 0, running());
            awaitBalance();
            awaitMore(allPartitions());
        }

        private MirrorProcess start(String name, Listener listener) throws Exception {
            String config = "client.id=" + name + "\n"
                    + (PROTOCOL.equals("classic")
                            ? "session.timeout.ms=1500\nheartbeat.interval.ms=300\n"
                            : "group.protocol=" + PROTOCOL + "\n");
            Path file = Files.writeString(folder.resolve(name), config);
            Path producer = Files.writeString(
                    folder.resolve(name + "-producer"), "client.id=" + name + "\ntransaction.timeout.ms=10000\n");
            List<String> options = new ArrayList<>(
                    List.of("--mode=" + MODE, "--consumer.config=" + file, "--producer.config=" + producer));
            RESUME.ifPresent(resume -> options.add("--resume=" + resume));
            return clusters.mirrorThrough(listener, topic, 2, ProducerKind.MILLRACE, options.toArray(String[]::new));
        }

        void kill(int index) throws Exception {
            Set<TopicPartition> others = partitionsOfAllBut(index);
            await("some is not committed", () -> clusters.mirrored(topic) > committed(topic) + 500, running());
            end(index).kill().awaitExit(STOP);
            awaitOthers(others);
            awaitMore(allPartitions());
            startMissing();
        }

        /** Stops one until another has its partitions, and lets it go on. */
        void freeze(int index) {
            Set<TopicPartition> others = partitionsOfAllBut(index);
            mirrors[index].freeze();
            awaitOthers(others);
            awaitMore(allPartitions());
            mirrors[index].thaw();
            awaitBalance();
            awaitMore(allPartitions());
        }

        /**
         * Cuts the last one off until another has its partitions, if it is missed by the group; what was on its way then
         * arrives.
         */
        void cutOff(List<KafkaCluster> from) {
            Set<TopicPartition> others = partitionsOfAllBut(MEMBERS - 1);
            from.forEach(cluster -> setFlow(cluster, Flow.NOTHING));
            awaitOthers(others);
            if (from.contains(clusterOfTheGroup())) {
                awaitMore(allPartitions());
            }
            from.forEach(cluster -> setFlow(cluster, Flow.BOTH));
            awaitBalance();
            awaitMore(allPartitions());
        }

        private void setFlow(KafkaCluster cluster, Flow flow) {
            IntStream.rangeClosed(1, cluster.brokers())
                    .forEach(broker -> cluster.proxy(broker).setFlow(flow));
        }

        /** A rolling restart. */
        void restartAll() throws Exception {
            for (int i = 0; i < MEMBERS; i++) {
                Set<TopicPartition> others = partitionsOfAllBut(i);
                MirrorProcess stopped = end(i);
                assertThat(stopped.terminate().awaitExit(STOP))
                        .as(stopped.output())
                        .isZero();
                awaitMore(others);
                startMissing();
            }
        }

        void stop() throws InterruptedException {
            for (MirrorProcess mirror : running()) {
                assertThat(mirror.terminate().awaitExit(STOP))
                        .as(mirror.output())
                        .isZero();
            }
            for (MirrorProcess mirror : running()) {
                assertOutput(mirror);
            }
            ended.forEach(this::assertOutput);
        }

        private void assertOutput(MirrorProcess mirror) {
            if (MODE.isFetching()) {
                assertThat(mirror.output()).doesNotContain("may be written twice");
            }
        }

        private MirrorProcess end(int index) {
            MirrorProcess mirror = mirrors[index];
            mirrors[index] = null;
            ended.add(mirror);
            return mirror;
        }

        MirrorProcess[] running() {
            return Stream.of(mirrors).filter(mirror -> mirror != null).toArray(MirrorProcess[]::new);
        }

        private void awaitBalance() {
            await(
                    "each member has partitions",
                    () -> {
                        Map<String, Set<TopicPartition>> owned = owned();
                        return Stream.of(names).allMatch(name -> owned.containsKey(name))
                                && owned.keySet().size() == MEMBERS
                                && owned.values().stream().mapToInt(Set::size).sum() == PARTITIONS;
                    },
                    running());
        }

        private Set<TopicPartition> partitionsOfAllBut(int index) {
            Set<TopicPartition> partitions = allPartitions();
            partitions.removeAll(owned().get(names[index]));
            return partitions;
        }

        /** The partitions of each process that has some. */
        private Map<String, Set<TopicPartition>> owned() {
            Map<String, Set<TopicPartition>> owned = new HashMap<>();
            for (MemberDescription member : MirrorFixture.get(clusterOfTheGroup()
                            .admin()
                            .describeConsumerGroups(List.of(topic))
                            .all())
                    .get(topic)
                    .members()) {
                if (!member.assignment().topicPartitions().isEmpty()) {
                    String name =
                            member.clientId().substring(0, member.clientId().lastIndexOf('-'));
                    owned.computeIfAbsent(
                                    name, unused -> new TreeSet<>(Comparator.comparing(TopicPartition::partition)))
                            .addAll(member.assignment().topicPartitions());
                }
            }
            return owned;
        }

        private Set<TopicPartition> allPartitions() {
            return IntStream.range(0, PARTITIONS)
                    .mapToObj(partition -> new TopicPartition(topic, partition))
                    .collect(Collectors.toSet());
        }

        /** Waits until those that no fault has reached have gone on. */
        private void awaitOthers(Set<TopicPartition> partitions) {
            long since = System.nanoTime();
            awaitMore(partitions);
            longestPauseMs = Math.max(longestPauseMs, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since));
        }

        /** Waits until the target has more records of each partition than now. */
        private void awaitMore(Set<TopicPartition> partitions) {
            Map<TopicPartition, Long> before = ends(partitions);
            await(
                    "more of " + partitions,
                    () -> {
                        Map<TopicPartition, Long> now = ends(partitions);
                        return partitions.stream()
                                .allMatch(partition -> now.get(partition) > before.get(partition) + MORE);
                    },
                    running());
        }

        private Map<TopicPartition, Long> ends(Set<TopicPartition> partitions) {
            return Clusters.offsets(clusters.target().admin(), partitions, OffsetSpec.latest());
        }

        @Override
        public void close() {
            Stream.of(running()).forEach(MirrorProcess::close);
        }
    }
}
