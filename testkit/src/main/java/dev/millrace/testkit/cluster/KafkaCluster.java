package dev.millrace.testkit.cluster;

import dev.millrace.testkit.cluster.ClusterSpec.Brokers;
import dev.millrace.testkit.cluster.ClusterSpec.Credentials;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.proxy.FaultProxy;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;

/**
 * A real Kafka cluster on 127.0.0.1. Each KRaft broker runs in a child JVM that can be killed, stopped, paused and
 * started again. Up to three brokers are controllers too, so that a cluster of three or more survives the loss of any
 * one.
 *
 * <p>Nothing outlives it: {@link #close()}, and the end of this JVM in any way, kill the brokers and remove their data.
 *
 * <p>Brokers are numbered from 1. Any thread may call any method, but one broker must be handled by one thread at a
 * time. Needs {@code /bin/sh}. A failure of a file or a process is an {@link UncheckedIOException}; a time-out or an
 * interrupt is an {@link IllegalStateException}.
 */
public final class KafkaCluster implements AutoCloseable {
    /**
     * How long it takes at most until every partition that a killed broker led has another leader, in a cluster of
     * three. If the broker was the active controller, the others notice after 2 s and elect another within 2 s; the new
     * controller then gives every broker a new session.
     */
    public static final Duration ELECTION_TIMEOUT =
            BrokerSettings.SESSION_TIMEOUT.plusSeconds(2).plusSeconds(2);

    private static final int START_ATTEMPTS = 5;

    private final ClusterSpec spec;
    private final ChildFolder folder = ChildFolder.create("millrace-kafka-");
    private final Nodes nodes;
    private final Optional<Certificates> certificates;
    private final Map<Listener, List<FaultProxy>> proxies = new EnumMap<>(Listener.class);
    private final BrokerProcesses processes;
    private final Admin admin;
    private final ClusterTopics topics;

    private KafkaCluster(ClusterSpec spec) {
        this.spec = spec;
        nodes = Nodes.of(spec);
        try {
            certificates = spec.hasEncryptedListener()
                    ? Optional.of(Certificates.generate(folder.path(), spec.listeners()))
                    : Optional.empty();
            spec.listeners().stream().filter(Listener::isProxied).forEach(this::startProxies);
            processes = BrokerProcesses.of(spec, nodes, certificates, folder);
            processes.startAll();
            admin = Admin.create(clientConfig());
            topics = new ClusterTopics(admin);
        } catch (RuntimeException e) {
            closeProxies();
            folder.close();
            throw e;
        }
    }

    /** A builder of clusters; by default of one broker with a PLAINTEXT listener. */
    public static Builder builder() {
        return new Builder();
    }

    /** The {@link Listener#PLAINTEXT} addresses of all brokers, running or not. */
    public String bootstrapServers() {
        return bootstrapServers(Listener.PLAINTEXT);
    }

    /**
     * The addresses of all brokers, running or not.
     *
     * @throws IllegalArgumentException if the cluster was not built with this listener
     */
    public String bootstrapServers(Listener listener) {
        if (!spec.listeners().contains(listener)) {
            throw new IllegalArgumentException(
                    "No listener " + listener + ", only " + spec.listeners() + "; name it in listeners()");
        }
        return nodes.brokers().stream()
                .map(node -> node.advertisedAddress(listener))
                .collect(Collectors.joining(","));
    }

    /** What a client needs to connect to {@link Listener#PLAINTEXT}. The map is new; the caller may add to it. */
    public Map<String, Object> clientConfig() {
        return clientConfig(Listener.PLAINTEXT);
    }

    /** What a client needs to connect to this listener, as the cluster's first user by the SASL mechanism PLAIN. */
    public Map<String, Object> clientConfig(Listener listener) {
        return clientConfig(listener, SaslMechanism.PLAIN);
    }

    /** What a client needs to connect to this listener, as the cluster's first user. */
    public Map<String, Object> clientConfig(Listener listener, SaslMechanism mechanism) {
        return clientConfig(listener, mechanism, spec.credentials().users().get(0));
    }

    /**
     * What a client needs to connect: addresses, security protocol, stores of certificates, user and password. The map
     * is new; the caller may add to it.
     *
     * @param mechanism has no effect on a listener without authentication
     * @param user has no effect on a listener without authentication
     * @throws IllegalArgumentException if the cluster was not built with this listener
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
            config.put(
                    "sasl.jaas.config",
                    mechanism.clientJaas(user, spec.credentials().password()));
        }
        return config;
    }

    /** The certificates of a cluster that has an encrypted listener. */
    public Certificates certificates() {
        return certificates.orElseThrow();
    }

    /** The {@code broker.rack} of a broker, which no other broker has. */
    public String rack(int broker) {
        return BrokerSettings.rack(broker);
    }

    /** The number of brokers, running or not; their ids are 1 to this number. */
    public int brokers() {
        return nodes.brokers().size();
    }

    /** Sends a broker SIGKILL, which ends it as a power cut would; blocks until its process has ended. */
    public void kill(int broker) {
        processes.kill(broker);
    }

    /** Stops a broker cleanly: it hands over its leaderships. Blocks until it has ended; it is killed after 30 s. */
    public void stop(int broker) {
        processes.stop(broker);
    }

    /** Stops a broker if it runs, and starts it on its old data and ports; blocks until it serves. */
    public void restart(int broker) {
        processes.restart(broker);
    }

    /**
     * Removes all records of a broker that was killed or stopped, as if it had got a new disk for them; its metadata log
     * has a disk of its own. {@link #restart} starts it anew, with the same id.
     *
     * @throws IllegalStateException if the broker runs
     */
    public void removeData(int broker) {
        processes.removeData(broker);
    }

    /** Where a broker has its partitions, each in a folder of its own. */
    public Path dataFolder(int broker) {
        return processes.dataFolder(broker);
    }

    /**
     * Kills all nodes, removes their data and metadata, and starts them as a new cluster with the same id, users and
     * ports; blocks until all of them serve.
     */
    public void format() {
        processes.formatAll();
    }

    /** Freezes a broker by SIGSTOP: its connections stay open, and it answers nothing. */
    public void pause(int broker) {
        processes.pause(broker);
    }

    /** Lets a paused broker continue. */
    public void resume(int broker) {
        processes.resume(broker);
    }

    /** The CPU time that the running brokers have used since they were started, in steps of 10 ms. */
    public Duration cpuTime() {
        return processes.cpuTime();
    }

    /**
     * The proxy through which clients of {@link Listener#PROXIED} reach this broker.
     *
     * @throws IllegalArgumentException if there is no such broker, or the cluster was not built with that listener
     */
    public FaultProxy proxy(int broker) {
        return proxy(Listener.PROXIED, broker);
    }

    /**
     * The proxy through which clients, or brokers, that use this listener reach this broker.
     *
     * @throws IllegalArgumentException if there is no such broker, or the cluster was not built with that listener, or
     *     the listener has no proxies
     */
    public FaultProxy proxy(Listener listener, int broker) {
        List<FaultProxy> ofListener = proxies.getOrDefault(listener, List.of());
        if (broker < 1 || broker > ofListener.size()) {
            throw new IllegalArgumentException("No proxy of listener " + listener + " in front of broker " + broker
                    + "; name PROXIED or REPLICATION in listeners(), brokers are 1 to " + brokers());
        }
        return ofListener.get(broker - 1);
    }

    /** An admin client, connected to {@link Listener#PLAINTEXT}; it is closed with the cluster. */
    public Admin admin() {
        return admin;
    }

    /**
     * Creates a topic. Blocks until each of its partitions has a leader that serves it, for at most 30 s, because the
     * stock producer, with which many tests compare, may never recover from the refusal of one that does not yet
     * (KAFKA-15591). With {@link Builder#kafkaDefaults()} it blocks as users do: until the controller has created it.
     *
     * @throws org.apache.kafka.common.KafkaException if the brokers refuse the topic
     */
    public void createTopic(String name, int partitions, int replicationFactor, Map<String, String> configs) {
        create(new NewTopic(name, partitions, (short) replicationFactor).configs(configs), partitions);
    }

    /**
     * Creates a topic as the other method does, on brokers that the caller chooses.
     *
     * @param replicas the brokers of each partition; the first of them leads
     */
    public void createTopic(String name, Map<Integer, List<Integer>> replicas, Map<String, String> configs) {
        create(new NewTopic(name, replicas).configs(configs), replicas.size());
    }

    private void create(NewTopic topic, int partitions) {
        Uuid id = topics.create(topic);
        if (!spec.brokers().areKafkaDefaults()) {
            topics.awaitServed(id, topic.name(), partitions);
        }
    }

    /**
     * Creates a topic and blocks until each of its partitions has a leader that serves it, for at most 30 s, whatever the
     * cluster's settings: an age that no user waits for. Whoever calls it says why.
     */
    public void createServedTopic(String name, int partitions, int replicationFactor, Map<String, String> configs) {
        Uuid id = topics.create(new NewTopic(name, partitions, (short) replicationFactor).configs(configs));
        topics.awaitServed(id, name, partitions);
    }

    /** Creates a topic as {@link #createServedTopic} does, on brokers that the caller chooses. */
    public void createServedTopic(String name, Map<Integer, List<Integer>> replicas, Map<String, String> configs) {
        topics.awaitServed(topics.create(new NewTopic(name, replicas).configs(configs)), name, replicas.size());
    }

    /** Gives a topic more partitions, and blocks as {@link #createTopic} does. */
    public void growTopic(String name, int partitions) {
        topics.grow(name, partitions);
    }

    /**
     * The id of the broker that leads a partition, as a broker of the cluster tells it now; −1 while there is none.
     *
     * @throws IndexOutOfBoundsException if the topic has fewer partitions
     */
    public int leader(String topic, int partition) {
        return topics.leader(topic, partition);
    }

    /** Kills all brokers and removes their data; blocks until that is done, for well under a second. */
    @Override
    public void close() {
        admin.close(Duration.ZERO);
        closeProxies();
        folder.close();
    }

    private void startProxies(Listener listener) {
        List<FaultProxy> started = new ArrayList<>();
        proxies.put(listener, started);
        for (Node node : nodes.brokers()) {
            started.add(
                    new FaultProxy(node.proxyPorts().get(listener), node.ports().get(listener)));
        }
    }

    private void closeProxies() {
        proxies.values().forEach(ofListener -> ofListener.forEach(FaultProxy::close));
    }

    /** Collects the settings of a cluster. Not for use by several threads. */
    public static final class Builder {
        private int brokers = 1;
        private boolean areKafkaDefaults;
        private final Set<Listener> listeners = EnumSet.of(Listener.PLAINTEXT);
        private final Map<String, String> settings = new HashMap<>();
        private final Map<String, Integer> features = new TreeMap<>();
        private String heap = "512m";
        private final Map<Integer, Path> dataFolders = new TreeMap<>();
        private List<String> users = List.of("millrace");
        private String password = "millrace-secret";

        private Builder() {}

        /** The number of brokers, from 1. It takes three to survive the loss of any one. */
        public Builder brokers(int brokers) {
            if (brokers < 1) {
                throw new IllegalArgumentException("brokers is " + brokers + ", must be 1 or more");
            }
            this.brokers = brokers;
            return this;
        }

        /**
         * Everything as Kafka has it by default: also those settings in which clusters otherwise deviate, each for a reason
         * that stands in {@link BrokerSettings}, and controllers in JVMs of their own.
         */
        public Builder kafkaDefaults() {
            areKafkaDefaults = true;
            return this;
        }

        /** A setting of every broker; wins over all others. */
        public Builder setting(String key, String value) {
            BrokerSettings.refuseFixed(key, value);
            settings.put(key, value);
            return this;
        }

        /** The level of a feature, such as {@code transaction.version}; by default the newest that the brokers know. */
        public Builder feature(String name, int level) {
            features.put(name, level);
            return this;
        }

        /** Adds listeners to {@link Listener#PLAINTEXT}, which every cluster has. */
        public Builder listeners(Listener... more) {
            listeners.addAll(List.of(more));
            return this;
        }

        /**
         * The maximum heap of each broker, in the form of {@code -Xmx}; by default 512m, which is enough for 100 MB/s.
         */
        public Builder heap(String heap) {
            this.heap = heap;
            return this;
        }

        /** Where a broker has its data, such as on a {@link SmallDisk}; the caller removes it. */
        public Builder dataFolder(int broker, Path folder) {
            dataFolders.put(broker, folder);
            return this;
        }

        /** The users of the listeners with SASL, known in every {@link SaslMechanism}; by default {@code millrace}. */
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

        /**
         * Makes brokers refuse what no ACL allows. Clients of listeners without authentication, such as
         * {@link KafkaCluster#admin()}, may still do everything.
         */
        public Builder authorizer() {
            settings.putAll(BrokerSettings.authorizer());
            return this;
        }

        /**
         * Starts the cluster and blocks until every broker serves, for a few seconds, at most 90.
         *
         * @throws IllegalStateException if a broker does not start; the message has the last lines of its log
         */
        public KafkaCluster start() {
            ClusterSpec spec = new ClusterSpec(
                    new Brokers(brokers, areKafkaDefaults, heap, dataFolders),
                    listeners,
                    settings,
                    features,
                    new Credentials(users, password));
            for (int attempt = 1; ; attempt++) {
                try {
                    return new KafkaCluster(spec);
                } catch (IllegalStateException e) {
                    // Another process may have taken a port after it was found free.
                    boolean portTaken = String.valueOf(e.getMessage()).contains("Address already in use");
                    if (!portTaken || attempt == START_ATTEMPTS) {
                        throw e;
                    }
                }
            }
        }
    }
}
