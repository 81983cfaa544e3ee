package dev.millrace.testkit.cluster;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.Ports;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.ChildJvm;
import dev.millrace.testkit.process.JavaRuntime;
import dev.millrace.testkit.proxy.FaultProxy;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * A real Kafka cluster of 127.0.0.1: KRaft brokers, each in a child JVM that can be killed, stopped, paused and started
 * again. Up to three of them are controllers too, so that a cluster of three or more works on when any one is killed.
 *
 * <p>Nothing outlives it: {@link #close()}, and the end of this JVM in any way, kill the brokers and remove their data.
 *
 * <p>Brokers are numbered from 1. Any thread may call any method, but one broker is to be handled by one thread at a
 * time. Needs {@code /bin/sh}. Failures of files and processes are {@link UncheckedIOException}; whatever does not happen
 * in time, or is interrupted, is an {@link IllegalStateException}.
 */
public final class KafkaCluster implements AutoCloseable {
    /**
     * The longest until all that a killed broker led has another leader, in a cluster of three. If it was the active
     * controller, the others notice after 2 s and elect another within 2 s, which then gives every broker a session.
     */
    public static final Duration ELECTION_TIMEOUT =
            BrokerSettings.SESSION_TIMEOUT.plusSeconds(2).plusSeconds(2);

    private static final Duration START_TIMEOUT = Duration.ofSeconds(90);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration TOPIC_TIMEOUT = Duration.ofSeconds(30);
    private static final int START_ATTEMPTS = 5;

    private final Builder builder;
    private final ChildFolder folder = ChildFolder.create("millrace-kafka-");
    private final String clusterId = Uuid.randomUuid().toString();
    private final List<Node> nodes;
    private final Optional<Certificates> certificates;
    private final Map<Integer, FaultProxy> proxies = new TreeMap<>();
    private final Map<Integer, ChildJvm> running = new TreeMap<>();
    private final Admin admin;

    private KafkaCluster(Builder builder) {
        this.builder = builder;
        nodes = nodes(builder.brokers, builder.listeners);
        try {
            certificates = builder.listeners.stream().anyMatch(Listener::isEncrypted)
                    ? Optional.of(Certificates.generate(folder.path(), builder.listeners))
                    : Optional.empty();
            if (builder.listeners.contains(Listener.PROXIED)) {
                nodes.forEach(node -> proxies.put(
                        node.id(), new FaultProxy(node.proxyPort(), node.ports().get(Listener.PROXIED))));
            }
            for (Node node : nodes) {
                running.put(node.id(), launch(node));
            }
            Await.until(
                    "all brokers serve",
                    START_TIMEOUT,
                    () -> running.values().stream().allMatch(ChildJvm::isReady));
            admin = Admin.create(clientConfig());
        } catch (RuntimeException e) {
            proxies.values().forEach(FaultProxy::close);
            folder.close();
            throw e;
        }
    }

    /** Settings of a cluster to start; by default one broker with a PLAINTEXT listener. */
    public static Builder builder() {
        return new Builder();
    }

    /** The address of every broker, running or not, for {@link Listener#PLAINTEXT}. */
    public String bootstrapServers() {
        return bootstrapServers(Listener.PLAINTEXT);
    }

    /**
     * The address of every broker, running or not.
     *
     * @throws IllegalArgumentException when the cluster was not built with this listener
     */
    public String bootstrapServers(Listener listener) {
        if (!builder.listeners.contains(listener)) {
            throw new IllegalArgumentException(
                    "No listener " + listener + ", only " + builder.listeners + "; name it in listeners()");
        }
        return nodes.stream().map(node -> node.advertisedAddress(listener)).collect(Collectors.joining(","));
    }

    /** What a client needs to connect to {@link Listener#PLAINTEXT}; a new map, for the caller to add to. */
    public Map<String, Object> clientConfig() {
        return clientConfig(Listener.PLAINTEXT);
    }

    /** What a client needs to connect: as the next, with the SASL mechanism PLAIN where there is authentication. */
    public Map<String, Object> clientConfig(Listener listener) {
        return clientConfig(listener, SaslMechanism.PLAIN);
    }

    /** What a client needs to connect: as the next, for the cluster's first user. */
    public Map<String, Object> clientConfig(Listener listener, SaslMechanism mechanism) {
        return clientConfig(listener, mechanism, builder.users.get(0));
    }

    /**
     * What a client needs to connect: addresses, security protocol, stores of certificates, user and password; a new map,
     * for the caller to add to.
     *
     * @param mechanism of no effect on a listener without authentication, as is {@code user}
     * @throws IllegalArgumentException when the cluster was not built with this listener
     */
    public Map<String, Object> clientConfig(Listener listener, SaslMechanism mechanism, String user) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrapServers(listener));
        if (listener != Listener.PLAINTEXT) {
            config.put("security.protocol", listener.securityProtocol());
        }
        if (listener.isEncrypted()) {
            config.putAll(certificates.orElseThrow().clientSettings(listener));
        }
        if (listener.isAuthenticated()) {
            config.put("sasl.mechanism", mechanism.kafkaName());
            config.put("sasl.jaas.config", mechanism.clientJaas(user, builder.password));
        }
        return config;
    }

    /** How many brokers the cluster has, running or not; their ids are 1 to this number. */
    public int brokers() {
        return nodes.size();
    }

    /** Ends a broker at once, by SIGKILL, as when its machine loses power; blocks until its process is gone. */
    public void kill(int broker) {
        child(broker).kill();
    }

    /** Stops a broker in order: it hands over its leaderships. Blocks until it has ended; killed after 30 s. */
    public void stop(int broker) {
        child(broker).stop(STOP_TIMEOUT);
    }

    /** Starts a broker on its old data and ports, after stopping it if it runs; blocks until it serves. */
    public void restart(int broker) {
        stop(broker);
        ChildJvm child = launch(nodes.get(broker - 1));
        running.put(broker, child);
        child.awaitReady(START_TIMEOUT);
    }

    /** Freezes a broker by SIGSTOP: its connections stay open, and nothing answers. */
    public void pause(int broker) {
        child(broker).pause();
    }

    /** Lets a paused broker go on. */
    public void resume(int broker) {
        child(broker).resume();
    }

    /**
     * The proxy by which clients of {@link Listener#PROXIED} reach this broker.
     *
     * @throws IllegalArgumentException when there is no such broker, or the cluster was not built with that listener
     */
    public FaultProxy proxy(int broker) {
        FaultProxy proxy = proxies.get(broker);
        if (proxy == null) {
            throw new IllegalArgumentException("No proxy in front of broker " + broker
                    + "; name PROXIED in listeners(), brokers are 1 to " + brokers());
        }
        return proxy;
    }

    /** A client for administration, over {@link Listener#PLAINTEXT}; closed with the cluster. */
    public Admin admin() {
        return admin;
    }

    /**
     * Creates a topic and blocks until each of its partitions has a leader that serves it, for at most 30 s: metadata tells
     * of a leader before that broker knows, and a stock producer may not recover from its refusal (KAFKA-15591).
     *
     * @throws org.apache.kafka.common.KafkaException as the brokers refuse the topic
     */
    public void createTopic(String name, int partitions, int replicationFactor, Map<String, String> configs) {
        createTopic(new NewTopic(name, partitions, (short) replicationFactor).configs(configs), partitions);
    }

    /** As the other, with replicas on these brokers, by partition; the first of each leads. */
    public void createTopic(String name, Map<Integer, List<Integer>> replicas, Map<String, String> configs) {
        createTopic(new NewTopic(name, replicas).configs(configs), replicas.size());
    }

    private void createTopic(NewTopic topic, int partitions) {
        Uuid id = get(admin.createTopics(List.of(topic)).topicId(topic.name()));
        awaitLeaders(id, topic.name(), partitions);
    }

    /** Gives a topic more partitions, and blocks as {@link #createTopic} does. */
    public void growTopic(String name, int partitions) {
        get(admin.createPartitions(Map.of(name, NewPartitions.increaseTo(partitions)))
                .all());
        awaitLeaders(describe(name).orElseThrow().topicId(), name, partitions);
    }

    private void awaitLeaders(Uuid id, String name, int partitions) {
        Await.until(
                "every partition of topic " + name + " has a leader that serves it",
                TOPIC_TIMEOUT,
                () -> describe(name)
                        .filter(description -> description.topicId().equals(id)) // not of its predecessor
                        .filter(description -> description.partitions().size() == partitions)
                        .filter(description -> description.partitions().stream().allMatch(p -> p.leader() != null))
                        .filter(description -> isServed(name, partitions))
                        .isPresent());
    }

    private boolean isServed(String topic, int partitions) {
        Map<TopicPartition, OffsetSpec> ends = IntStream.range(0, partitions)
                .boxed()
                .collect(Collectors.toMap(p -> new TopicPartition(topic, p), p -> OffsetSpec.latest()));
        try {
            return get(admin.listOffsets(ends).all()).size() == partitions;
        } catch (RetriableException e) {
            return false;
        }
    }

    /**
     * The id of the broker that leads a partition, as a broker of the cluster tells it now; −1 while there is none.
     *
     * @throws IndexOutOfBoundsException when the topic has fewer partitions
     */
    public int leader(String topic, int partition) {
        return describe(topic)
                .map(description -> description.partitions().get(partition).leader())
                .filter(Objects::nonNull)
                .map(org.apache.kafka.common.Node::id)
                .orElse(-1);
    }

    /** Kills all brokers and removes their data; blocks until that is done, well below a second. */
    @Override
    public void close() {
        admin.close(Duration.ZERO);
        proxies.values().forEach(FaultProxy::close);
        folder.close();
    }

    private Optional<TopicDescription> describe(String topic) {
        try {
            return Optional.of(
                    get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic));
        } catch (UnknownTopicOrPartitionException e) {
            return Optional.empty();
        }
    }

    private ChildJvm child(int broker) {
        ChildJvm child = running.get(broker);
        if (child == null) {
            throw new IllegalArgumentException("No broker " + broker + ", only 1 to " + brokers());
        }
        return child;
    }

    private ChildJvm launch(Node node) {
        String name = "broker-" + node.id();
        Path settings = folder.path().resolve(name + ".properties");
        Properties properties = new Properties();
        properties.putAll(BrokerSettings.of(node, nodes, folder.path().resolve(name)));
        properties.putAll(BrokerSettings.sasl(builder.listeners, builder.users, builder.password));
        certificates.ifPresent(made -> properties.putAll(made.brokerSettings(builder.listeners)));
        properties.putAll(builder.settings);
        try (OutputStream out = Files.newOutputStream(settings)) {
            properties.store(out, null);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the settings of " + name, e);
        }
        List<String> arguments = new ArrayList<>(List.of(settings.toString(), clusterId));
        for (String user : builder.users) {
            Stream.of(SaslMechanism.values())
                    .flatMap(mechanism -> mechanism.storedCredential(user, builder.password).stream())
                    .forEach(credential -> arguments.addAll(List.of("--add-scram", credential)));
        }
        builder.features.forEach((feature, level) -> arguments.addAll(List.of("--feature", feature + "=" + level)));
        // Compiling later saves a quarter of the CPU of a start; a busy broker still gets fully optimized code.
        List<String> options = List.of("-Xmx" + builder.heap, "-XX:+UseParallelGC", "-XX:CompileThresholdScaling=4");
        return new ChildJvm(
                folder, name, JavaRuntime.ofThisJvm(), options, BrokerMain.class, arguments.toArray(String[]::new));
    }

    private static List<Node> nodes(int brokers, Set<Listener> listeners) {
        Queue<Integer> ports = Ports.free(brokers * (listeners.size() + 2));
        return IntStream.rangeClosed(1, brokers)
                .mapToObj(id -> {
                    Map<Listener, Integer> byListener = new EnumMap<>(Listener.class);
                    listeners.forEach(listener -> byListener.put(listener, ports.remove()));
                    return new Node(id, byListener, ports.remove(), ports.remove());
                })
                .toList();
    }

    private static <T> T get(KafkaFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for the cluster", e);
        }
    }

    /** Settings of a cluster to start. Not for use by several threads. */
    public static final class Builder {
        private int brokers = 1;
        private final Set<Listener> listeners = EnumSet.of(Listener.PLAINTEXT);
        private final Map<String, String> settings = new HashMap<>();
        private final Map<String, Integer> features = new TreeMap<>();
        private String heap = "512m";
        private List<String> users = List.of("millrace");
        private String password = "millrace-secret";

        private Builder() {}

        private Builder(Builder original) {
            brokers = original.brokers;
            listeners.addAll(original.listeners);
            settings.putAll(original.settings);
            features.putAll(original.features);
            heap = original.heap;
            users = original.users;
            password = original.password;
        }

        /** How many brokers, from 1; three are what survives the loss of any one. */
        public Builder brokers(int brokers) {
            if (brokers < 1) {
                throw new IllegalArgumentException("brokers is " + brokers + ", must be 1 or more");
            }
            this.brokers = brokers;
            return this;
        }

        /** A setting of every broker, winning over the defaults of this class. */
        public Builder setting(String key, String value) {
            BrokerSettings.check(key, value);
            settings.put(key, value);
            return this;
        }

        /** The level of a feature, such as {@code transaction.version}, if not the newest the brokers know. */
        public Builder feature(String name, int level) {
            features.put(name, level);
            return this;
        }

        /** Listeners to have besides {@link Listener#PLAINTEXT}, which is always there. */
        public Builder listeners(Listener... more) {
            listeners.addAll(List.of(more));
            return this;
        }

        /** The maximal heap of each broker, in the form of {@code -Xmx}: 512m by default, enough for 100 MB/s. */
        public Builder heap(String heap) {
            this.heap = heap;
            return this;
        }

        /** The users that the listeners with SASL know, in every {@link SaslMechanism}; {@code millrace} by default. */
        public Builder users(String... users) {
            if (users.length == 0) {
                throw new IllegalArgumentException("users is empty, must name one user or more");
            }
            this.users = List.of(users);
            return this;
        }

        /** The password of all users. */
        public Builder password(String password) {
            this.password = password;
            return this;
        }

        /** Refuses whatever no ACL allows, but to clients of listeners without authentication, {@link KafkaCluster#admin()} among them. */
        public Builder authorizer() {
            settings.putAll(BrokerSettings.authorizer());
            return this;
        }

        /**
         * Starts the cluster and blocks until every broker serves: a few seconds, at most 90.
         *
         * @throws IllegalStateException when a broker does not start; with the last lines of its log
         */
        public KafkaCluster start() {
            for (int attempt = 1; ; attempt++) {
                try {
                    return new KafkaCluster(new Builder(this));
                } catch (IllegalStateException e) {
                    // Between probing a port and binding it, someone else may have taken it.
                    boolean portTaken = String.valueOf(e.getMessage()).contains("Address already in use");
                    if (!portTaken || attempt == START_ATTEMPTS) {
                        throw e;
                    }
                }
            }
        }
    }
}
