package dev.millrace.testkit.cluster;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.ClusterSpec.Brokers;
import dev.millrace.testkit.cluster.ClusterSpec.Credentials;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.ChildJvm;
import dev.millrace.testkit.process.ClassArchive;
import dev.millrace.testkit.process.ClassLocation;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;

/**
 * Starts and ends the child JVMs of a cluster's brokers. Each has its settings, its data and its log in the cluster's
 * folder.
 *
 * <p><b>Threads:</b> any, but one broker is handled by one thread at a time.
 */
final class BrokerProcesses {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(90);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

    /** For a stop that writes the class archive, also on a busy machine. */
    private static final Duration ARCHIVE_TIMEOUT = Duration.ofMinutes(2);

    /** Names the class path of brokers of another version, with the test kit's classes. */
    private static final String CLASS_PATH = "millrace.testkit.broker.path";

    /** The resource that lists the jars on which the test kit depends, as a class path. The build writes it. */
    private static final String JARS = "broker-jars";

    /** Has the JVM option that tells how much brokers are optimized, in place of {@link #COMPILER_OF_LONG_RUNS}. */
    private static final String COMPILER = "millrace.testkit.broker.compiler";

    /** Compiling later saves a quarter of the CPU time of a start; a busy broker still gets fully optimized code. */
    private static final String COMPILER_OF_LONG_RUNS = "-XX:CompileThresholdScaling=4";

    private final ClusterSpec spec;
    private final Nodes nodes;
    private final Optional<Certificates> certificates;
    private final ChildFolder folder;
    private final JavaRuntime runtime;
    private final List<String> jvmOptions;
    private final String clusterId = Uuid.randomUuid().toString();

    /** By broker; the last process of each, which may have ended. */
    private final Map<Integer, ChildJvm> processes = new TreeMap<>();

    private BrokerProcesses(
            ClusterSpec spec,
            Nodes nodes,
            Optional<Certificates> certificates,
            ChildFolder folder,
            JavaRuntime runtime,
            List<String> jvmOptions) {
        this.spec = spec;
        this.nodes = nodes;
        this.certificates = certificates;
        this.folder = folder;
        this.runtime = runtime;
        this.jvmOptions = jvmOptions;
    }

    static BrokerProcesses of(ClusterSpec spec, Nodes nodes, Optional<Certificates> certificates, ChildFolder folder) {
        JavaRuntime ours = JavaRuntime.ofThisJvm();
        String other = System.getProperty(CLASS_PATH);
        if (other != null) {
            JavaRuntime runtime = new JavaRuntime(ours.home(), other);
            return new BrokerProcesses(spec, nodes, certificates, folder, runtime, List.of());
        }
        ClassArchive archive =
                ClassArchive.of("broker", ours, entry -> Jars.ALL.contains(entry), BrokerProcesses::runOnce);
        return new BrokerProcesses(spec, nodes, certificates, folder, archive.runtime(), archive.options());
    }

    /** Those of the class path that brokers need; read when an archive is looked for. The tests of all modules have them. */
    private static final class Jars {
        static final Set<String> ALL = read();

        private static Set<String> read() {
            try (InputStream in = Objects.requireNonNull(BrokerProcesses.class.getResourceAsStream(JARS), JARS)) {
                String testKit = ClassLocation.of(BrokerMain.class).toString();
                String others = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                return Set.copyOf(List.of((testKit + File.pathSeparator + others).split(File.pathSeparator)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void runOnce(JavaRuntime runtime, List<String> jvmOptions) {
        ClusterSpec spec = new ClusterSpec(
                new Brokers(1, false, "512m", Map.of()),
                Set.of(Listener.PLAINTEXT),
                Map.of(),
                Map.of(),
                new Credentials(List.of("nobody"), "nothing"));
        try (ChildFolder folder = ChildFolder.create("millrace-kafka-")) {
            BrokerProcesses one =
                    new BrokerProcesses(spec, Nodes.of(spec), Optional.empty(), folder, runtime, jvmOptions);
            one.startAll();
            one.process(1).stop(ARCHIVE_TIMEOUT);
        }
    }

    /** Starts all nodes at once and blocks until all of them serve. */
    void startAll() {
        for (Node node : nodes.all()) {
            processes.put(node.id(), launch(node));
        }
        Await.until(
                "all brokers serve",
                START_TIMEOUT,
                () -> processes.values().stream().allMatch(ChildJvm::isReady));
    }

    void kill(int broker) {
        process(broker).kill();
    }

    void stop(int broker) {
        process(broker).stop(STOP_TIMEOUT);
    }

    void restart(int broker) {
        stop(broker);
        ChildJvm process = launch(nodes.brokers().get(broker - 1));
        processes.put(broker, process);
        process.awaitReady(START_TIMEOUT);
    }

    /**
     * Removes all records of a broker that does not run. Its metadata log stays: a voter of the controllers that
     * forgets for whom it voted ends itself, as the others' answers contradict what it knows.
     */
    void removeData(int broker) {
        if (process(broker).isAlive()) {
            throw new IllegalStateException(
                    "Broker " + broker + " runs; its data can only be removed when it does not");
        }
        remove(dataFolder(broker));
    }

    Path dataFolder(int broker) {
        return dataFolder(nodes.brokers().get(broker - 1));
    }

    /** Kills all nodes, removes what they have kept, and starts them again; blocks until all of them serve. */
    void formatAll() {
        processes.values().forEach(ChildJvm::kill);
        for (Node node : nodes.all()) {
            remove(dataFolder(node));
            remove(metadataFolder(node));
        }
        startAll();
    }

    private static void remove(Path dataFolder) {
        try (Stream<Path> files = Files.walk(dataFolder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot remove " + dataFolder, e);
        }
    }

    void pause(int broker) {
        process(broker).pause();
    }

    void resume(int broker) {
        process(broker).resume();
    }

    /** The CPU time of all brokers; zero of those that do not run. */
    Duration cpuTime() {
        return processes.values().stream()
                .flatMap(process -> process.cpuTime().stream())
                .reduce(Duration.ZERO, Duration::plus);
    }

    private ChildJvm process(int broker) {
        int last = nodes.brokers().size();
        if (broker < 1 || broker > last) {
            throw new IllegalArgumentException("No broker " + broker + ", only 1 to " + last);
        }
        return processes.get(broker);
    }

    private ChildJvm launch(Node node) {
        String name = name(node);
        Path settings = folder.path().resolve(name + ".properties");
        try (OutputStream out = Files.newOutputStream(settings)) {
            settingsOf(node).store(out, null);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the settings of " + name, e);
        }
        List<String> arguments = new ArrayList<>(List.of(settings.toString(), clusterId));
        arguments.addAll(formatOptions());
        String compiler = System.getProperty(COMPILER, COMPILER_OF_LONG_RUNS);
        List<String> options = new ArrayList<>(List.of("-Xmx" + spec.brokers().heap(), "-XX:+UseParallelGC", compiler));
        String tokenKeys = spec.settings().get(SignedTokens.KEYS);
        if (tokenKeys != null) { // Kafka reads none that a system property does not allow
            options.add("-D" + SignedTokens.ALLOWED_URLS + "=" + tokenKeys);
        }
        options.addAll(jvmOptions);
        return new ChildJvm(folder, name, runtime, options, BrokerMain.class, arguments.toArray(String[]::new));
    }

    private static String name(Node node) {
        return (node.isBroker() ? "broker-" : "controller-") + node.id();
    }

    private Path dataFolder(Node node) {
        return spec.brokers()
                .dataFolders()
                .getOrDefault(node.id(), folder.path().resolve(name(node)));
    }

    private Path metadataFolder(Node node) {
        return folder.path().resolve(name(node) + "-metadata");
    }

    private Properties settingsOf(Node node) {
        Properties properties = new Properties();
        properties.putAll(BrokerSettings.of(node, nodes.controllers(), dataFolder(node), metadataFolder(node)));
        if (node.isBroker()) {
            boolean isController = nodes.controllers().contains(node);
            properties.putAll(BrokerSettings.broker(node, isController));
            properties.putAll(BrokerSettings.sasl(spec.listeners(), spec.credentials()));
            certificates.ifPresent(made -> properties.putAll(made.brokerSettings(spec.listeners())));
        } else {
            properties.putAll(BrokerSettings.controller(node));
        }
        properties.putAll(BrokerSettings.internalTopics(spec.brokers().number()));
        if (!spec.brokers().areKafkaDefaults()) {
            properties.putAll(BrokerSettings.deviations());
        }
        properties.putAll(spec.settings());
        return properties;
    }

    /** What the storage tool has to write when it formats the data folder. */
    private List<String> formatOptions() {
        List<String> options = new ArrayList<>();
        Credentials credentials = spec.credentials();
        for (String user : credentials.users()) {
            Stream.of(SaslMechanism.values())
                    .flatMap(mechanism -> mechanism.storedCredential(user, credentials.password()).stream())
                    .forEach(credential -> options.addAll(List.of("--add-scram", credential)));
        }
        spec.features().forEach((feature, level) -> options.addAll(List.of("--feature", feature + "=" + level)));
        return options;
    }
}
