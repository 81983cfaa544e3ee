package dev.millrace.mirror.helm;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.SourceLoad;
import dev.millrace.mirror.support.UnpackedPackage;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.oracle.Comparison;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The packaged mirror, run as the chart says, in three pods that are replaced one after the other. */
@Tag("thorough")
@Tag("long")
class HelmRollIT {
    private static final String USER = "mirror";
    private static final String PASSWORD = "users-secret";
    private static final String TOPIC = "rolled";
    private static final int PARTITIONS = 6;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Pattern JOINED = Pattern.compile("Successfully joined group .*generationId=(\\d+)");

    @TempDir
    private static Path folder;

    private static Pod.Node node;

    @AutoClose
    private static MirrorFixture clusters;

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    @BeforeAll
    static void start() throws Exception {
        HelmChart.buildHelm();
        clusters = new MirrorFixture(builder -> builder.listeners(Listener.SSL_MUTUAL, Listener.SASL_SSL)
                .users(USER)
                .password(PASSWORD));
        node = new Pod.Node(UnpackedPackage.in(folder), folder, secrets());
    }

    @Test
    void shouldKeepItsPartitionsAndLoseAndDoubleNothingWhenItIsRolled() throws Exception {
        clusters.source().createTopic(TOPIC, PARTITIONS, 1, Map.of());
        Manifests before = render(1);
        Manifests after = render(2);
        assertThat(container(before).getImage())
                .as("the version of the package")
                .isEqualTo(node.image().root().getFileName().toString().replace("mirror-", "mirror:"));
        List<Pod> pods = new ArrayList<>();
        try {
            for (int ordinal = 0; ordinal < before.statefulSet().getSpec().getReplicas(); ordinal++) {
                pods.add(startMember(before, ordinal));
            }
            awaitReady(pods);
            await("each has its part", () -> owners().size() == pods.size(), processes(pods));
            Map<String, Set<TopicPartition>> owners = owners();
            Set<Integer> generation = Set.of(generations(pods).last());

            long written;
            try (SourceLoad load = new SourceLoad(clusters, TOPIC, PARTITIONS, seed)) {
                for (int ordinal = pods.size() - 1; ordinal >= 0; ordinal--) {
                    Pod former = pods.get(ordinal);
                    assertThat(former.stop()).as(former.process().output()).isZero();
                    pods.set(ordinal, startMember(after, ordinal));
                    awaitReady(pods);
                }
                written = load.stop();
            }

            clusters.awaitCommittedOnTarget(TOPIC, written, processes(pods));
            await("each has its part again", () -> owners().equals(owners), processes(pods));
            assertThat(owners).containsOnlyKeys("mirror-0-0", "mirror-1-0", "mirror-2-0");
            assertThat(generations(pods)).as("no rebalance").isEqualTo(generation);
            for (Pod pod : pods) {
                assertThat(pod.peakMemory()).isLessThan(memory(container(after)));
            }
            runJobs(after);
            for (Pod pod : pods) {
                assertThat(pod.stop()).as(pod.process().output()).isZero();
            }
        } finally {
            pods.forEach(Pod::close);
        }
        assertThat(clusters.compareForCommittedReader(TOPIC))
                .as("seed %d", seed)
                .matches(Comparison::isExact);
    }

    /** The chart with encrypted connections and exactly once, for these clusters. */
    private static Manifests render(int threads) throws IOException {
        Path values = Files.writeString(folder.resolve("values-" + threads + ".yaml"), """
                mirror:
                  source:
                    bootstrap.servers: %s
                  target:
                    bootstrap.servers: %s
                  topics: [%s]
                  group: %s
                  threads: %d
                  sample: 1000
                  verbose: true
                javaOptions: -XX:TieredStopAtLevel=1 # the JVM starts faster, and these runs are short
                """.formatted(
                        clusters.source().bootstrapServers(Listener.SSL_MUTUAL),
                        clusters.target().bootstrapServers(Listener.SASL_SSL),
                        TOPIC,
                        TOPIC,
                        threads));
        return HelmChart.render(
                HelmChart.EXAMPLES.resolve("tls-sasl.yaml"), HelmChart.EXAMPLES.resolve("exactly-once.yaml"), values);
    }

    /** What is in the Secrets that the example names. */
    private static Map<String, Path> secrets() throws IOException, GeneralSecurityException {
        Map<String, String> source = clusters.source().certificates().clientSettings(Listener.SSL_MUTUAL);
        Map<String, String> target = clusters.target().certificates().clientSettings(Listener.SASL_SSL);
        Path sourceAuthority = Files.createDirectory(folder.resolve("source-ca"));
        Files.copy(Path.of(source.get("ssl.truststore.location")), sourceAuthority.resolve("ca.p12"));
        Files.writeString(sourceAuthority.resolve("ca.password"), source.get("ssl.truststore.password"));
        Path sourceUser = Files.createDirectory(folder.resolve("source-user"));
        Files.copy(Path.of(source.get("ssl.keystore.location")), sourceUser.resolve("user.p12"));
        Files.writeString(sourceUser.resolve("user.password"), source.get("ssl.keystore.password"));
        Path targetAuthority = Files.createDirectory(folder.resolve("target-ca"));
        Files.writeString(targetAuthority.resolve("ca.crt"), pem(target));
        Path targetUser = Files.createDirectory(folder.resolve("target-user"));
        Files.writeString(targetUser.resolve("password"), PASSWORD);
        return Map.of(
                "old-cluster-ca-cert", sourceAuthority,
                "old-mirror", sourceUser,
                "new-cluster-ca-cert", targetAuthority,
                "new-mirror", targetUser);
    }

    private static String pem(Map<String, String> settings) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        try (InputStream store = Files.newInputStream(Path.of(settings.get("ssl.truststore.location")))) {
            trusted.load(store, settings.get("ssl.truststore.password").toCharArray());
        }
        byte[] certificate =
                trusted.getCertificate(trusted.aliases().nextElement()).getEncoded();
        return "-----BEGIN CERTIFICATE-----\n" + Base64.getMimeEncoder().encodeToString(certificate)
                + "\n-----END CERTIFICATE-----\n";
    }

    /** Each pod has an address of its own, as Linux has many, and so all have the port that is rendered. */
    private static Pod startMember(Manifests manifests, int ordinal) throws IOException {
        long pid = ProcessHandle.current().pid();
        String address = "127.%d.%d.%d".formatted(1 + (pid >> 8) % 254, pid % 256, 1 + ordinal);
        String name = manifests.statefulSet().getMetadata().getName() + "-" + ordinal;
        return Pod.start(node, manifests, manifests.statefulSet().getSpec().getTemplate(), name, address);
    }

    private static void awaitReady(List<Pod> pods) {
        await("all are started", () -> pods.stream().allMatch(Pod::isStarted), processes(pods));
        await("all are ready", () -> pods.stream().allMatch(Pod::isReady), processes(pods));
    }

    private static void runJobs(Manifests manifests) throws Exception {
        try (Pod verify = startJob(manifests, "mirror-verify");
                Pod cutover = startJob(manifests, "mirror-cutover")) {
            assertThat(output(verify)).contains(TOPIC);
            assertThat(output(cutover)).contains("nothing was changed");
        }
    }

    private static Pod startJob(Manifests manifests, String name) throws IOException {
        Job job = manifests.of(Job.class).stream()
                .filter(candidate -> candidate.getMetadata().getName().equals(name))
                .findFirst()
                .orElseThrow();
        return Pod.start(node, manifests, job.getSpec().getTemplate(), name, "127.0.0.1");
    }

    /** What a Job prints, which must end with 0. */
    private static String output(Pod job) throws InterruptedException {
        assertThat(job.process().awaitExit(PATIENCE))
                .as(() -> job.process().kill().output())
                .isZero();
        return job.process().output();
    }

    private static Container container(Manifests manifests) {
        return manifests
                .statefulSet()
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .get(0);
    }

    private static long memory(Container container) {
        return Quantity.getAmountInBytes(container.getResources().getLimits().get("memory"))
                .longValueExact();
    }

    private static MirrorProcess[] processes(List<Pod> pods) {
        return pods.stream().map(Pod::process).toArray(MirrorProcess[]::new);
    }

    /** Which member has which partitions; nobody has any while a partition is without an owner. */
    private static Map<String, Set<TopicPartition>> owners() {
        ConsumerGroupDescription group = get(clusters.target()
                .admin()
                .describeConsumerGroups(List.of(TOPIC))
                .describedGroups()
                .get(TOPIC));
        Map<String, Set<TopicPartition>> owners = group.members().stream()
                .filter(member -> !member.assignment().topicPartitions().isEmpty())
                .collect(Collectors.toMap(
                        member -> member.groupInstanceId().orElseThrow(),
                        member -> member.assignment().topicPartitions()));
        boolean isSettled = group.groupState() == GroupState.STABLE
                && owners.values().stream().mapToInt(Set::size).sum() == PARTITIONS;
        return isSettled ? owners : Map.of();
    }

    /** The generations of the group in which these processes have joined it. */
    private static SortedSet<Integer> generations(List<Pod> pods) {
        return pods.stream()
                .flatMap(pod -> pod.process().printed())
                .map(JOINED::matcher)
                .filter(line -> line.find())
                .map(line -> Integer.valueOf(line.group(1)))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
