package dev.millrace.mirror.cutover;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** There and back: the source then has each record once, in order, and so has each group seen them. */
@Tag("thorough")
class CutoverBackIT {
    private static final Duration STOP = Duration.ofMinutes(2);
    private static final String WRITER = "writer";
    /** May still write. */
    private static final String MIRROR = "mirror";

    private static final String PREFIX = "eu.";
    private static final String FENCE = "--fence=acls";
    private static final String EXCEPT = "--fence-except=User:" + MIRROR;
    /** So many partitions get records, and another one stays empty. */
    private static final int PARTITIONS = 2;

    private static final int STEP = 1_000;
    private static final int LONGEST_STEP_MS = 300;
    private static final long ALL = Long.MAX_VALUE;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(
            cluster -> cluster.authorizer().listeners(Listener.SASL_PLAINTEXT).users(WRITER));

    private final long begunMs = System.currentTimeMillis();
    /** The next record's number, which its timestamp tells. */
    private final AtomicInteger next = new AtomicInteger(1);

    private final long seed = System.nanoTime();
    private final Map<String, Map<Integer, List<Long>>> seen = new HashMap<>();
    private String topic;
    private String copy;
    /** How the mirrors resume. */
    private String resume;

    @Test
    void shouldHaveEachRecordOnceAfterGoingThereAndBack() throws Exception {
        setUp("round", "exact");
        goThere();
        assertTurned();
        forgetPositions();
        assertRefused(mirror("run"), "A cutover has turned the direction of this mirror, as topic millrace-cutover.");
        comeBack();
    }

    @Test
    @Tag("long")
    void shouldHaveEachRecordOnceAfterGoingThereAndBackExactlyOnce() throws Exception {
        setUp("round-once", "exactly-once");
        goThere();
        assertTurned();
        comeBack();
    }

    @ParameterizedTest
    @ValueSource(strings = {"exact", "exactly-once"})
    @Tag("long")
    void shouldHaveEachRecordOnceWhenItIsKilledInEachStep(String resume) throws Exception {
        setUp("killed-" + resume, resume);
        goThereKilled();
        assertTurned();
        comeBack();
    }

    private void setUp(String topic, String resume) throws Exception {
        this.topic = topic;
        this.copy = PREFIX + topic;
        this.resume = resume;
        clusters.source().createTopic(topic, PARTITIONS + 1, 1, Map.of());
        for (String protocol : List.of("classic", "consumer")) {
            seen.put(topic + "-g-" + protocol, new HashMap<>());
        }
        get(clusters.source()
                .admin()
                .createAcls(List.of(
                        acl(WRITER, AclOperation.WRITE),
                        acl(MIRROR, AclOperation.WRITE),
                        acl("reader", AclOperation.READ)))
                .all());
        write(clusters.source(), topic);
    }

    private void goThere() throws Exception {
        try (MirrorProcess mirror = mirror("run", "--groups-interval=1s")) {
            readSome(clusters.source(), topic, STEP / 2);
            write(clusters.source(), topic);
            await("it copies", () -> clusters.stableOnTarget(copy) > 0, mirror);
            assertRefused(cutover("--sync=acls"), "The target lacks what --sync asks for: 1 ACL");
            try (MirrorProcess killed = cutover(FENCE, EXCEPT, "--quiet=1h")) {
                await(
                        "it has denied writing",
                        () -> killed.hasPrinted("denied: User:writer: Write to"),
                        mirror,
                        killed);
                await("the source denies it", () -> isDenied());
                assertRefused(cutover(), "Another cutover of this mirror runs, at");
                killed.kill();
            }
            assertThat(deniedAtSource()).containsExactly("User:" + WRITER);
            try (MirrorProcess undo = cutover("--undo")) {
                assertThat(undo.awaitExit(STOP)).as(undo.output()).isZero();
                assertThat(undo.output()).contains("denied no longer: User:writer: Write to");
            }
            assertThat(deniedAtSource()).isEmpty();
            try (MirrorProcess cutover =
                    cutover("--quiet=2s", FENCE, EXCEPT, "--keep-way-back", "--verify=whole", "--json")) {
                await("all is moved", () -> cutover.hasPrinted("stop the mirror now"), mirror, cutover);
                assertThat(mirror.terminate().awaitExit(STOP)).isZero();
                assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isZero();
                assertThat(cutover.printed())
                        .anyMatch(line -> line.contains("the direction is turned: 'mirror run --back'"))
                        .anyMatch(line -> line.startsWith("{\"source\":") && line.contains("\"target_end\":"));
            }
        }
    }

    /** Kills it when each step begins, and then at the moments between which it turns the direction. */
    private void goThereKilled() throws Exception {
        Random random = new Random(seed);
        try (MirrorProcess mirror = mirror("run", "--groups-interval=1s")) {
            readSome(clusters.source(), topic, STEP / 2);
            await("it copies", () -> clusters.stableOnTarget(copy) > 0, mirror);
            for (String step : List.of("2  stop", "3  wait", "4  move", "5  verify", "6  finish")) {
                try (MirrorProcess killed = turning()) {
                    await(step, () -> killed.hasPrinted(step), mirror, killed);
                    Thread.sleep(random.nextInt(LONGEST_STEP_MS));
                    killed.kill();
                }
                write(clusters.source(), topic);
            }
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        for (BooleanSupplier moment : List.<BooleanSupplier>of(
                () -> hasEnded() || hasBegunBack(), () -> hasEnded() && hasBegunBack(), () -> false)) {
            if (isTurned()) {
                return;
            }
            try (MirrorProcess mirror = mirror("run", "--groups-interval=1s");
                    MirrorProcess cutover = turning()) {
                await("it may be stopped", () -> cutover.hasPrinted("stop the mirror now"), mirror, cutover);
                assertThat(mirror.terminate().awaitExit(STOP)).isZero();
                while (cutover.isAlive() && !moment.getAsBoolean()) {
                    Thread.onSpinWait(); // what the moment asks for takes a while, too
                }
                cutover.kill();
            }
        }
        assertThat(isTurned()).isTrue();
    }

    /** Whether the mirror must not go on. */
    private boolean hasEnded() {
        return (isExactlyOnce() ? clusters.positionsOnTarget(topic) : clusters.positions(topic))
                .values().stream()
                        .anyMatch(position -> CommitMetadata.of(position).isEnded());
    }

    /** Whether a mirror back may begin. */
    private boolean hasBegunBack() {
        Collection<OffsetAndMetadata> positions = (isExactlyOnce()
                        ? clusters.positions(topic + "-back")
                        : clusters.positionsOnTarget(topic + "-back"))
                .values();
        return !positions.isEmpty()
                && positions.stream()
                        .noneMatch(position -> CommitMetadata.of(position).isEnded());
    }

    private boolean isExactlyOnce() {
        return resume.equals("exactly-once");
    }

    private MirrorProcess turning() {
        return cutover(FENCE, EXCEPT, "--quiet=1s", "--keep-way-back");
    }

    /**
     * Lets the next call do what a killed one has left. Returns whether the direction is turned: then only the mirror back
     * starts, otherwise only this one, or none.
     */
    private boolean isTurned() throws Exception {
        boolean mayGoBack = starts("--back");
        assertThat(starts() && mayGoBack)
                .as("both mirrors start; seed %d", seed)
                .isFalse();
        try (MirrorProcess cutover = turning()) {
            assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isEqualTo(mayGoBack ? 0 : 1);
            assertThat(cutover.output())
                    .contains(mayGoBack ? "an earlier call has turned the direction" : "The mirror does not run");
        }
        return mayGoBack;
    }

    private boolean starts(String... back) throws Exception {
        try (MirrorProcess mirror = mirror(
                "run", Stream.concat(Stream.of("--status=1"), Stream.of(back)).toArray(String[]::new))) {
            await("it starts or ends", () -> mirror.hasPrinted("lag 0") || !mirror.isAlive(), mirror);
            if (mirror.isAlive()) {
                assertThat(mirror.terminate().awaitExit(STOP)).isZero();
                return true;
            }
            assertThat(mirror.output()).containsAnyOf("A cutover has turned the direction", "has no position");
            return false;
        }
    }

    private void assertTurned() throws Exception {
        assertRefused(mirror("run"), "A cutover has turned the direction of this mirror");
        assertRefused(cutover("--undo"), "The cutover is done");
        try (MirrorProcess again = cutover("--keep-way-back")) {
            assertThat(again.awaitExit(STOP)).as(again.output()).isZero();
            assertThat(again.output()).contains("an earlier call has turned the direction");
        }
    }

    private void comeBack() throws Exception {
        write(clusters.target(), copy);
        long before = clusters.written(topic);
        try (MirrorProcess back = mirror("run", "--back", "--groups-interval=1s")) {
            readSome(clusters.target(), copy, STEP);
            write(clusters.target(), copy);
            await("it copies back", () -> clusters.stable(topic) > before, back);
            try (MirrorProcess cutover = cutover("--quiet=2s", "--back", "--keep-way-back")) {
                await("all is moved", () -> cutover.hasPrinted("stop the mirror now"), back, cutover);
                assertThat(back.terminate().awaitExit(STOP)).isZero();
                assertThat(back.output()).doesNotContain("They are copied from their first record");
                assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isZero();
                assertThat(cutover.printed().filter(line -> line.contains(": from ")))
                        .hasSize(seen.size() * (PARTITIONS + 1))
                        .allMatch(line -> line.contains(" 0 again at most"));
                assertThat(cutover.output()).contains("denied no longer at the target: User:writer");
            }
        }
        assertRefused(mirror("run", "--back"), "A cutover has turned the direction of this mirror");
        await("the source allows it", () -> !isDenied());
        write(clusters.source(), topic);
        try (MirrorProcess again = mirror("run")) {
            await("it copies what is new", () -> clusters.stableOnTarget(copy) >= next.get() - 1, again);
            try (MirrorProcess verify = mirror("verify")) {
                assertThat(verify.awaitExit(STOP)).as(verify.output()).isZero();
            }
        }
        readSome(clusters.source(), topic, ALL);

        Map<Integer, List<Long>> all = new HashMap<>();
        try (ReadingProgram whole = new GroupReader(clusters.source(), topic, topic + "-all", "classic", ALL)) {
            await("all is read", () -> whole.count() >= next.get() - 1);
            whole.stop();
            whole.addTo(all);
        }
        assertThat(all).isEqualTo(written());
        seen.forEach((group, records) ->
                assertThat(records).as("what %s has seen", group).isEqualTo(all));
    }

    /** As Kafka does after {@code offsets.retention.minutes}; not with exactly once. */
    private void forgetPositions() {
        get(clusters.source().admin().deleteConsumerGroups(List.of(topic)).all());
    }

    private static void assertRefused(MirrorProcess command, String why) throws InterruptedException {
        try (command) {
            assertThat(command.awaitExit(STOP)).as(command.output()).isEqualTo(1);
            assertThat(command.output()).contains(why);
        }
    }

    /** The numbers of all records, by partition. */
    private Map<Integer, List<Long>> written() {
        Map<Integer, List<Long>> written = new HashMap<>();
        IntStream.range(1, next.get())
                .forEach(number -> written.computeIfAbsent(number % PARTITIONS, partition -> new ArrayList<>())
                        .add(begunMs + number));
        return written;
    }

    private void write(KafkaCluster cluster, String topic) {
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(cluster.clientConfig())) {
            for (int i = 0; i < STEP; i++) {
                int number = next.getAndIncrement();
                producer.send(new ProducerRecord<>(topic, number % PARTITIONS, begunMs + number, null, new byte[10]));
            }
        }
    }

    /** Whether the writer may not write; each record that it writes counts. */
    private boolean isDenied() {
        Map<String, Object> config =
                clusters.source().clientConfig(Listener.SASL_PLAINTEXT, SaslMechanism.PLAIN, WRITER);
        config.put("enable.idempotence", false); // which needs no other right
        int number = next.get();
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(config)) {
            get(producer.send(new ProducerRecord<>(topic, number % PARTITIONS, begunMs + number, null, new byte[10])));
            next.incrementAndGet();
            return false;
        } catch (IllegalStateException e) {
            assertThat(e.getCause())
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(TopicAuthorizationException.class);
            return true;
        }
    }

    /** Lets each group read so many records, or all, and leave. */
    private void readSome(KafkaCluster cluster, String topic, long most) {
        seen.forEach((group, records) -> {
            long left = next.get()
                    - 1
                    - records.values().stream().mapToLong(List::size).sum();
            try (ReadingProgram reader =
                    new GroupReader(cluster, topic, group, group.substring(group.lastIndexOf('-') + 1), most)) {
                await("it has read some", () -> reader.count() >= Math.min(most, left));
                reader.stop();
                reader.addTo(records);
            }
        });
    }

    private static List<String> deniedAtSource() {
        return get(clusters.source().admin().describeAcls(AclBindingFilter.ANY).values()).stream()
                .map(AclBinding::entry)
                .filter(entry -> entry.permissionType() == AclPermissionType.DENY)
                .map(AccessControlEntry::principal)
                .toList();
    }

    private AclBinding acl(String user, AclOperation operation) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
                new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW));
    }

    private MirrorProcess cutover(String... more) {
        return mirror(
                "cutover",
                Stream.concat(Stream.of("--yes", "--status=1"), Stream.of(more)).toArray(String[]::new));
    }

    private MirrorProcess mirror(String command, String... more) {
        return MirrorProcess.start(clusters.arguments(
                command,
                topic,
                Stream.concat(
                                Stream.of(
                                        "--topic-prefix=" + PREFIX, "--resume=" + resume, "--groups=" + topic + "-g.*"),
                                Stream.of(more))
                        .toArray(String[]::new)));
    }
}
