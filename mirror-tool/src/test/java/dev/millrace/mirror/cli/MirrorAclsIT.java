package dev.millrace.mirror.cli;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.apache.kafka.common.acl.AclOperation.ALTER;
import static org.apache.kafka.common.acl.AclOperation.ALTER_CONFIGS;
import static org.apache.kafka.common.acl.AclOperation.CREATE;
import static org.apache.kafka.common.acl.AclOperation.DESCRIBE;
import static org.apache.kafka.common.acl.AclOperation.DESCRIBE_CONFIGS;
import static org.apache.kafka.common.acl.AclOperation.READ;
import static org.apache.kafka.common.acl.AclOperation.WRITE;
import static org.apache.kafka.common.resource.ResourceType.CLUSTER;
import static org.apache.kafka.common.resource.ResourceType.GROUP;
import static org.apache.kafka.common.resource.ResourceType.TOPIC;
import static org.apache.kafka.common.resource.ResourceType.TRANSACTIONAL_ID;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.ClusterRole;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/**
 * The table of ACLs in {@code docs/mirror.md}: with exactly these a mirror does all that it is asked to, and without one
 * that it needs it says which. Each user has topics and a group of its own.
 */
class MirrorAclsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final String EXACT = "exact";
    private static final String EXACTLY_ONCE = "exactly-once";
    private static final String CLUSTER_NAME = "kafka-cluster";
    private static final int PARTITIONS = 2;
    private static final int RECORDS = 500;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(cluster -> cluster.authorizer()
            .listeners(Listener.SASL_PLAINTEXT)
            .users(EXACT, EXACTLY_ONCE, "no-0", "no-1", "no-2", "no-3", "no-4", "no-5"));

    /** Something that a user may do. */
    private record Right(ClusterRole cluster, AclOperation operation, ResourceType type, String name) {
        AclBinding of(String user) {
            PatternType pattern = type == TRANSACTIONAL_ID ? PatternType.PREFIXED : PatternType.LITERAL;
            return new AclBinding(
                    new ResourcePattern(type, name, pattern),
                    new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW));
        }
    }

    private static Right source(AclOperation operation, ResourceType type, String name) {
        return new Right(ClusterRole.SOURCE, operation, type, name);
    }

    private static Right target(AclOperation operation, ResourceType type, String name) {
        return new Right(ClusterRole.TARGET, operation, type, name);
    }

    // ---- the table ----

    /** "Every mirror", new topics, new partitions, codec and batch size. */
    private static Stream<Right> toCopy(String topic) {
        return Stream.of(
                source(READ, TOPIC, topic),
                target(WRITE, TOPIC, topic),
                source(DESCRIBE_CONFIGS, TOPIC, topic),
                target(CREATE, TOPIC, topic),
                target(ALTER, TOPIC, topic),
                target(DESCRIBE_CONFIGS, TOPIC, topic));
    }

    /** Sharing by bytes, and finding other mirrors. */
    private static Stream<Right> toFindOthers() {
        return Stream.of(
                source(DESCRIBE, CLUSTER, CLUSTER_NAME), source(DESCRIBE, GROUP, "*"), target(DESCRIBE, GROUP, "*"));
    }

    private static Stream<Right> toSync(String topic) {
        return Stream.of(
                target(ALTER_CONFIGS, TOPIC, topic),
                target(DESCRIBE, CLUSTER, CLUSTER_NAME),
                target(ALTER, CLUSTER, CLUSTER_NAME),
                source(DESCRIBE_CONFIGS, CLUSTER, CLUSTER_NAME),
                target(DESCRIBE_CONFIGS, CLUSTER, CLUSTER_NAME),
                target(ALTER_CONFIGS, CLUSTER, CLUSTER_NAME));
    }

    /** {@code --groups}, and MirrorMaker 2's topics. */
    private static Stream<Right> forGroups(String user, String readers) {
        String map = "millrace-offsets." + user + ".internal";
        String checkpoints = user + ".checkpoints.internal";
        String syncs = "mm2-offset-syncs." + user + ".internal";
        return Stream.of(
                target(READ, GROUP, readers),
                target(CREATE, TOPIC, map),
                target(READ, TOPIC, map),
                target(WRITE, TOPIC, map),
                target(CREATE, TOPIC, checkpoints),
                target(WRITE, TOPIC, checkpoints),
                source(CREATE, TOPIC, syncs),
                source(WRITE, TOPIC, syncs));
    }

    // ---- tests ----

    @Test
    void shouldDoAllThatItIsAskedToWithNoMoreThanTheTableSays() throws Exception {
        String topic = EXACT + "-orders";
        String keyless = EXACT + "-keyless";
        String deadLetters = keyless + ".dead-letter";
        String readers = EXACT + "-readers";
        allow(
                EXACT,
                Stream.of(
                                toCopy(topic),
                                toCopy(keyless),
                                toFindOthers(),
                                toSync(topic),
                                toSync(keyless),
                                forGroups(EXACT, readers),
                                Stream.of(
                                        source(READ, GROUP, EXACT),
                                        target(READ, TOPIC, topic),
                                        target(READ, TOPIC, keyless),
                                        target(WRITE, TOPIC, deadLetters),
                                        target(CREATE, TOPIC, deadLetters)))
                        .flatMap(rights -> rights)
                        .toList());
        fill(topic);
        clusters.source().createTopic(keyless, PARTITIONS, 1, Map.of("retention.ms", "86400000"));
        clusters.target().createTopic(keyless, 1, 1, Map.of("cleanup.policy", "compact"));
        writeWithoutKey(keyless);
        commit(readers, topic);
        giveAnnRights(topic);

        try (MirrorProcess mirror = MirrorProcess.start(args(
                EXACT,
                "run",
                "--groups=" + readers,
                "--groups-interval=1s",
                "--mm2-checkpoints=" + EXACT,
                "--mm2-offset-syncs=" + EXACT,
                "--sync=settings,acls,quotas",
                "--sync-interval=1s",
                "--exclude-settings=cleanup.policy",
                "--on-refused=dead-letter"))) {
            await("all is mirrored", () -> clusters.mirrored(topic) == RECORDS, mirror);
            await("the refused record is a dead letter", () -> clusters.mirrored(deadLetters) == 1, mirror);
            await(
                    "the group is there",
                    () -> clusters.positionsOnTarget(readers).size() == PARTITIONS,
                    mirror);
            await("so are its checkpoints", () -> clusters.mirrored(EXACT + ".checkpoints.internal") > 0, mirror);
            await("and the offset syncs", () -> hasOffsetSyncs(EXACT), mirror);
            await("Ann may read there", () -> acls(clusters.target()).contains(annReads(topic)), mirror);
            await("and has her quota", MirrorAclsIT::hasAnnHerQuota, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).doesNotContainIgnoringCase("authoriz").doesNotContainIgnoringCase("may not");
            System.out.println(mirror.output());
        }
        assertThat(clusters.compare(topic).isExact()).isTrue();
        assertThat(MirrorFixture.partitions(clusters.target(), keyless)).isEqualTo(PARTITIONS);
        assertThat(execute(EXACT, 0, "plan")).contains("2 topics, at most ");
        assertThat(execute(EXACT, 0, "verify", "--exclude-topics=" + keyless)).contains("1 topic: 1 the same");
        assertThat(execute(EXACT, 0, "failover", "--plan", "--groups=" + readers))
                .contains("1 group, at most 0 records to see twice");
    }

    @Test
    void shouldMirrorExactlyOnceWithNoMoreThanTheTableSays() throws Exception {
        String topic = EXACTLY_ONCE + "-orders";
        allow(
                EXACTLY_ONCE,
                Stream.of(
                                toCopy(topic),
                                toFindOthers(),
                                Stream.of(
                                        source(DESCRIBE, GROUP, EXACTLY_ONCE),
                                        target(READ, GROUP, EXACTLY_ONCE),
                                        target(READ, TOPIC, topic),
                                        target(WRITE, TRANSACTIONAL_ID, EXACTLY_ONCE)))
                        .flatMap(rights -> rights)
                        .toList());
        fill(topic);

        try (MirrorProcess mirror = MirrorProcess.start(args(EXACTLY_ONCE, "run", "--resume=exactly-once"))) {
            await("all is committed", () -> clusters.committedOnTarget(EXACTLY_ONCE) == RECORDS, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).doesNotContainIgnoringCase("authoriz").doesNotContainIgnoringCase("may not");
        }
        assertThat(clusters.compareForCommittedReader(topic).isExact()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            no-0 | SOURCE | READ             | TOPIC | matches none of the source's 0 topics (if it has ACLs, the mirror sees only topics on which it has Read)
            no-1 | SOURCE | READ             | GROUP | Not authorized to access group: no-1
            no-2 | SOURCE | DESCRIBE_CONFIGS | TOPIC | Topic no-2-orders is missing on the target, and the mirror may not read its settings on the source; allow DescribeConfigs there
            no-3 | TARGET | WRITE            | TOPIC | The mirror may not write to topic no-3-orders on the target; allow Write there
            no-4 | TARGET | CREATE           | TOPIC | Topic no-4-orders is missing on the target, and the mirror may not create it; allow Create there
            no-5 | TARGET | ALTER            | TOPIC | Topic no-5-orders has 1 of 2 partitions on the target, and the mirror may not add any; allow Alter there
            """)
    void shouldSayWhatItIsNotAllowed(
            String user, ClusterRole cluster, AclOperation operation, ResourceType type, String message) {
        String topic = user + "-orders";
        fill(topic);
        if (operation == ALTER) {
            clusters.target().createTopic(topic, 1, 1, Map.of());
        }
        List<Right> rights = new ArrayList<>(Stream.concat(
                        Stream.concat(toCopy(topic), toFindOthers()),
                        Stream.of(source(READ, GROUP, user), target(READ, TOPIC, topic)))
                .toList());
        assertThat(rights.removeIf(
                        right -> right.cluster == cluster && right.operation == operation && right.type == type))
                .isTrue();
        allow(user, rights);

        assertThat(execute(user, 1, "run", "--wait-at-start=0")).contains(message);
    }

    // ---- what they need ----

    private static void allow(String user, List<Right> rights) {
        for (ClusterRole role : ClusterRole.values()) {
            KafkaCluster cluster = role == ClusterRole.SOURCE ? clusters.source() : clusters.target();
            Set<AclBinding> acls = rights.stream()
                    .filter(right -> right.cluster == role)
                    .map(right -> right.of(user))
                    .collect(Collectors.toSet());
            get(cluster.admin().createAcls(acls).all());
            await("the broker knows them", () -> acls(cluster).containsAll(acls));
        }
    }

    private static List<AclBinding> acls(KafkaCluster cluster) {
        return List.copyOf(
                get(cluster.admin().describeAcls(AclBindingFilter.ANY).values()));
    }

    private static String[] args(String user, String command, String... more) {
        List<String> args = new ArrayList<>(List.of(command, "--topics=" + user + "-.*", "--group=" + user));
        connect(clusters.source(), "--source-setting=", user, args);
        connect(clusters.target(), "--target-setting=", user, args);
        args.addAll(List.of(more));
        return args.toArray(String[]::new);
    }

    private static void connect(KafkaCluster cluster, String option, String user, List<String> args) {
        cluster.clientConfig(Listener.SASL_PLAINTEXT, SaslMechanism.PLAIN, user)
                .forEach((key, value) -> args.add(option + key + "=" + value));
    }

    /** Runs a command in this process, and returns what it prints. */
    private static String execute(String user, int exitCode, String command, String... more) {
        StringWriter printed = new StringWriter();
        CommandLine main = Main.commandLine((stop, left) -> {})
                .setOut(new PrintWriter(printed, true))
                .setErr(new PrintWriter(printed, true));
        int exit = Main.execute(main, args(user, command, more));
        assertThat(exit).as(printed.toString()).isEqualTo(exitCode);
        return printed.toString();
    }

    private static void fill(String topic) {
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.fill(topic, PARTITIONS, RECORDS, 1);
    }

    private static void writeWithoutKey(String topic) {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                clusters.source().clientConfig(), new ByteArraySerializer(), new ByteArraySerializer())) {
            get(producer.send(new ProducerRecord<>(topic, 0, null, new byte[1])));
        }
    }

    private static void commit(String group, String topic) {
        Map<TopicPartition, OffsetAndMetadata> offsets = Map.of(
                new TopicPartition(topic, 0), new OffsetAndMetadata(10),
                new TopicPartition(topic, 1), new OffsetAndMetadata(20));
        clusters.commit(group, offsets);
    }

    private static boolean hasOffsetSyncs(String alias) {
        String topic = "mm2-offset-syncs." + alias + ".internal";
        return MirrorFixture.partitions(clusters.source(), topic) > 0 && clusters.written(topic) > 0;
    }

    private static AclBinding annReads(String topic) {
        return source(READ, TOPIC, topic).of("ann");
    }

    private static void giveAnnRights(String topic) {
        get(clusters.source().admin().createAcls(Set.of(annReads(topic))).all());
        ClientQuotaAlteration.Op limit = new ClientQuotaAlteration.Op("producer_byte_rate", 5e6);
        get(clusters.source()
                .admin()
                .alterClientQuotas(List.of(new ClientQuotaAlteration(ann(), List.of(limit))))
                .all());
    }

    private static boolean hasAnnHerQuota() {
        return get(clusters.target()
                        .admin()
                        .describeClientQuotas(ClientQuotaFilter.all())
                        .entities())
                .containsKey(ann());
    }

    private static ClientQuotaEntity ann() {
        return new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, "ann"));
    }
}
