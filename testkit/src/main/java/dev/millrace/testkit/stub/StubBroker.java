package dev.millrace.testkit.stub;

import dev.millrace.testkit.cluster.Certificates;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.ChildJvm;
import dev.millrace.testkit.process.JavaRuntime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A broker in a child JVM that acknowledges records and stores nothing, to measure what a producer can do by itself. It
 * answers ApiVersions, Metadata, InitProducerId and Produce, and closes the connection on any other request. It reads
 * only the number of records in a batch and checks neither checksum nor sequence. It does not serve transactions.
 *
 * <p>Any thread may call any method. Nothing outlives {@link #close()} or the end of this JVM. Needs {@code /bin/sh}.
 */
public final class StubBroker implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

    private final ChildFolder folder = ChildFolder.create("millrace-stub-");
    private final Optional<Certificates> certificates;
    private final String bootstrapServers;

    private StubBroker(Builder builder) {
        List<String> arguments = new ArrayList<>();
        arguments.add(Integer.toString(builder.brokers));
        arguments.add(Integer.toString(builder.delayMillis));
        try {
            certificates = builder.tls
                    ? Optional.of(Certificates.generate(folder.path(), Set.of(Listener.SSL)))
                    : Optional.empty();
            arguments.add(
                    certificates.map(made -> made.brokerStore().toString()).orElse(StubMain.PLAIN));
            builder.topics.forEach((topic, partitions) -> arguments.add(topic + "=" + partitions));
            ChildJvm child = new ChildJvm(
                    folder,
                    "stub",
                    JavaRuntime.ofThisJvm(),
                    List.of("-Xmx256m", "-XX:+UseSerialGC"),
                    StubMain.class,
                    arguments.toArray(String[]::new));
            bootstrapServers = child.awaitReady(START_TIMEOUT);
        } catch (RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    /** A builder of stubs; by default of one broker without topics that answers at once. */
    public static Builder builder() {
        return new Builder();
    }

    /** The addresses of all brokers of the stub. */
    public String bootstrapServers() {
        return bootstrapServers;
    }

    /**
     * What a client needs to connect: addresses, and with TLS the certificate to trust. The map is new; the caller may
     * add to it.
     */
    public Map<String, Object> clientConfig() {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrapServers);
        certificates.ifPresent(made -> {
            config.put("security.protocol", Listener.SSL.securityProtocol());
            config.putAll(made.clientSettings(Listener.SSL));
        });
        return config;
    }

    /** Kills the child JVM; blocks until it has ended, for some milliseconds. */
    @Override
    public void close() {
        folder.close();
    }

    /** Collects the settings of a stub. Not for use by several threads. */
    public static final class Builder {
        private final Map<String, Integer> topics = new LinkedHashMap<>();
        private int brokers = 1;
        private int delayMillis;
        private boolean tls;

        private Builder() {}

        /** Adds a topic; the brokers lead its partitions in turn. */
        public Builder topic(String name, int partitions) {
            if (partitions < 1) {
                throw new IllegalArgumentException(
                        "partitions of topic " + name + " is " + partitions + ", must be 1 or more");
            }
            topics.put(name, partitions);
            return this;
        }

        /** Adds {@code count} topics, named {@code prefix} and a number from 0. */
        public Builder topics(String prefix, int count, int partitions) {
            return topic(prefix + "*" + count, partitions);
        }

        /** The number of brokers that it appears to be, from 1; one thread serves them all. */
        public Builder brokers(int brokers) {
            if (brokers < 1) {
                throw new IllegalArgumentException("brokers is " + brokers + ", must be 1 or more");
            }
            this.brokers = brokers;
            return this;
        }

        /** Delays every response by so many milliseconds, from 0, as a distant or busy broker would. */
        public Builder delayMillis(int delayMillis) {
            if (delayMillis < 0) {
                throw new IllegalArgumentException("delayMillis is " + delayMillis + ", must be 0 or more");
            }
            this.delayMillis = delayMillis;
            return this;
        }

        /** Serves connections with TLS only, as {@link Listener#SSL} does. */
        public Builder tls() {
            tls = true;
            return this;
        }

        /**
         * Starts the stub and blocks until it serves, for some 300 ms, or a second or two with TLS.
         *
         * @throws IllegalStateException if it does not start; the message has the last lines of its log
         */
        public StubBroker start() {
            return new StubBroker(this);
        }
    }
}
