package dev.millrace.mirror.cutover;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
    private static final long ALL = Long.MAX_VALUE;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(
            cluster -> cluster.authorizer().listeners(Listener.SASL_PLAINTEXT).users(WRITER));

    private final long begunMs = System.currentTimeMillis();
    /** The next record's number, which its timestamp tells. */
    private final AtomicInteger next = new AtomicInteger(1);

    /** How the mirrors resume. */
    private enum Resume {
        EXACT,
        EXACTLY_ONCE;

        String topic() {
            return "round-" + this;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    @Test
    void shouldHaveEachRecordOnceAfterGoingThereAndBack() throws Exception {
        goThereAndBack(Resume.EXACT);
    }

    @Test
    @Tag("long")
    void shouldHaveEachRecordOnceAfterGoingThereAndBackExactlyOnce() throws Exception {
        goThereAndBack(Resume.EXACTLY_ONCE);
    }

    private void goThereAndBack(Resume resume) throws Exception {
        String topic = resume.topic();
        String copy = PREFIX + topic;
        clusters.source().createTopic(topic, PARTITIONS + 1, 1, Map.of());
        Map<String, Map<Integer, List<Long>>> seen = new HashMap<>();
        for (String protocol : List.of("classic", "consumer")) {
            seen.put(topic + "-g-" + protocol, new HashMap<>());
        }
        get(clusters.source()
                .admin()
                .createAcls(List.of(acl(topic, WRITER), acl(topic, MIRROR)))
                .all());
        write(clusters.source(), topic);
        try (MirrorProcess mirror = mirror(resume, "run", "--groups-interval=1s")) {
            readSome(clusters.source(), topic, STEP / 2, seen);
            write(clusters.source(), topic);
            await("it copies", () -> clusters.stableOnTarget(copy) > 0, mirror);
            try (MirrorProcess killed = cutover(resume, FENCE, EXCEPT, "--quiet=1h")) {
                await(
                        "it has denied writing",
                        () -> killed.hasPrinted("denied: User:writer: Write to"),
                        mirror,
                        killed);
                await("the source denies it", () -> isDenied(topic));
                assertRefused(cutover(resume), "Another cutover of this mirror runs, at");
                killed.kill();
            }
            assertThat(deniedAtSource()).containsExactly("User:" + WRITER);
            try (MirrorProcess undo = cutover(resume, "--undo")) {
                assertThat(undo.awaitExit(STOP)).as(undo.output()).isZero();
                assertThat(undo.output()).contains("denied no longer: User:writer: Write to");
            }
            assertThat(deniedAtSource()).isEmpty();
            try (MirrorProcess cutover =
                    cutover(resume, "--quiet=2s", FENCE, EXCEPT, "--keep-way-back", "--verify=whole", "--json")) {
                await("all is moved", () -> cutover.hasPrinted("stop the mirror now"), mirror, cutover);
                assertThat(mirror.terminate().awaitExit(STOP)).isZero();
                assertThat(cutover.awaitExit(STOP)).as(cutover.output()).isZero();
                assertThat(cutover.printed())
                        .anyMatch(line -> line.contains("the direction is turned: 'mirror run --back'"))
                        .anyMatch(line -> line.startsWith("{\"source\":") && line.contains("\"target_end\":"));
            }
        }
        assertRefused(mirror(resume, "run"), "A cutover has turned the direction of this mirror");
        assertRefused(cutover(resume, "--undo"), "The cutover is done");
        try (MirrorProcess again = cutover(resume, "--keep-way-back")) {
            assertThat(again.awaitExit(STOP)).as(again.output()).isZero();
            assertThat(again.output()).contains("an earlier call has turned the direction");
        }
        write(clusters.target(), copy);
        long before = clusters.written(topic);
        try (MirrorProcess back = mirror(resume, "run", "--back", "--groups-interval=1s")) {
            readSome(clusters.target(), copy, STEP, seen);
            write(clusters.target(), copy);
            await("it copies back", () -> clusters.stable(topic) > before, back);
            try (MirrorProcess cutover = cutover(resume, "--quiet=2s", "--back", "--keep-way-back")) {
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
        assertRefused(mirror(resume, "run", "--back"), "A cutover has turned the direction of this mirror");
        await("the source allows it", () -> !isDenied(topic));
        write(clusters.source(), topic);
        try (MirrorProcess again = mirror(resume, "run")) {
            await("it copies what is new", () -> clusters.stableOnTarget(copy) >= next.get() - 1, again);
            try (MirrorProcess verify = mirror(resume, "verify")) {
                assertThat(verify.awaitExit(STOP)).as(verify.output()).isZero();
            }
        }
        readSome(clusters.source(), topic, ALL, seen);

        Map<Integer, List<Long>> all = new HashMap<>();
        try (GroupReader whole = new GroupReader(clusters.source(), topic, topic + "-all", "classic", ALL)) {
            await("all is read", () -> whole.count() >= next.get() - 1);
            whole.stop();
            whole.addTo(all);
        }
        assertThat(all).isEqualTo(written());
        seen.forEach((group, records) ->
                assertThat(records).as("what %s has seen", group).isEqualTo(all));
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
    private boolean isDenied(String topic) {
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
    private void readSome(KafkaCluster cluster, String topic, long most, Map<String, Map<Integer, List<Long>>> seen) {
        seen.forEach((group, records) -> {
            long left = next.get()
                    - 1
                    - records.values().stream().mapToLong(List::size).sum();
            try (GroupReader reader =
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

    private static AclBinding acl(String topic, String user) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
                new AccessControlEntry("User:" + user, "*", AclOperation.WRITE, AclPermissionType.ALLOW));
    }

    private static MirrorProcess cutover(Resume resume, String... more) {
        return mirror(
                resume,
                "cutover",
                Stream.concat(Stream.of("--yes", "--status=1"), Stream.of(more)).toArray(String[]::new));
    }

    private static MirrorProcess mirror(Resume resume, String command, String... more) {
        return MirrorProcess.start(clusters.arguments(
                command,
                resume.topic(),
                Stream.concat(
                                Stream.of(
                                        "--topic-prefix=" + PREFIX,
                                        "--resume=" + resume,
                                        "--groups=" + resume.topic() + "-g.*"),
                                Stream.of(more))
                        .toArray(String[]::new)));
    }
}
