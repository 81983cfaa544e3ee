package dev.millrace.client.it.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import dev.millrace.client.support.Acls;
import dev.millrace.client.support.LeakOracle;
import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.Listener;
import dev.millrace.testkit.cluster.SaslMechanism;
import dev.millrace.testkit.oracle.DeliveryOracle;
import dev.millrace.testkit.oracle.Stamp;
import dev.millrace.testkit.oracle.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/** Authentication and ACLs: the stock producer and ours succeed and fail in the same way. */
class SecurityIT {
    private static final String OWNER = "owner";
    private static final String GUEST = "guest";
    private static final String PASSWORD = "a-secret-of-users";
    private static final int PARTITIONS = 3;
    private static final int RECORDS = 1000;

    @AutoClose
    private static KafkaCluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = KafkaCluster.builder()
                .listeners(Listener.values())
                .users(OWNER, GUEST)
                .password(PASSWORD)
                .authorizer()
                .start();
        for (String principal : List.of("User:" + OWNER, "User:CN=client")) {
            allow(principal, AclOperation.ALL, "*");
        }
    }

    static Stream<Arguments> connections() {
        List<Arguments> all = new ArrayList<>();
        for (ProducerKind kind : ProducerKind.values()) {
            for (Listener listener : List.of(Listener.PLAINTEXT, Listener.SSL, Listener.SSL_MUTUAL)) {
                all.add(Arguments.of(kind, listener, null));
            }
            for (SaslMechanism mechanism : SaslMechanism.values()) {
                all.add(Arguments.of(kind, Listener.SASL_PLAINTEXT, mechanism));
                all.add(Arguments.of(kind, Listener.SASL_SSL, mechanism));
            }
        }
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("connections")
    void shouldDeliverEveryRecordWhenConnectedBy(ProducerKind kind, Listener listener, SaslMechanism mechanism)
            throws Exception {
        // given
        Map<String, Object> client = cluster.clientConfig(listener, mechanism);
        String topic = topic("through-" + listener + "-" + mechanism, kind);
        DeliveryOracle oracle = new DeliveryOracle(1);

        // when
        Producer<byte[], byte[]> producer = kind.create(client);
        LeakOracle leaks = LeakOracle.of(producer);
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            Stamp stamp = new Stamp(1, 0, topic, i % PARTITIONS, i);
            futures.add(producer.send(
                    new ProducerRecord<>(topic, i % PARTITIONS, null, stamp.encode(100)), (metadata, e) -> {
                        if (e == null) {
                            oracle.onAcknowledged(stamp);
                        }
                    }));
            if (i < PARTITIONS && kind == ProducerKind.STOCK) {
                // otherwise it may never recover in a new topic (KAFKA-15591)
                futures.get(i).get();
            }
        }
        producer.close();

        // then
        for (Future<RecordMetadata> future : futures) {
            assertThat(future.get().hasOffset()).isTrue();
        }
        Verdict verdict = oracle.judge(client, List.of(topic));
        assertThat(verdict.isClean()).as(verdict.toString()).isTrue();
        assertThat(verdict.read()).isEqualTo(RECORDS);
        leaks.assertNothingLeft();
    }

    static Stream<Arguments> passwords() {
        return Stream.of(ProducerKind.values())
                .flatMap(kind -> Stream.of(SaslMechanism.values()).map(mechanism -> Arguments.of(kind, mechanism)));
    }

    @Tag("thorough")
    @ParameterizedTest
    @MethodSource("passwords")
    void shouldFailWithoutWaitingWhenThePasswordIsWrong(ProducerKind kind, SaslMechanism mechanism) throws Exception {
        Map<String, Object> client = cluster.clientConfig(Listener.SASL_SSL, mechanism);
        assertRefused(
                kind,
                ProducerKind.with(client, "sasl.jaas.config", mechanism.clientJaas(OWNER, "wrong")),
                SaslAuthenticationException.class);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWithoutWaitingWhenTheCertificateHasExpired(ProducerKind kind) throws Exception {
        assertRefused(kind, cluster.clientConfig(Listener.SSL_EXPIRED), SslAuthenticationException.class);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWithoutWaitingWhenTheClientHasNoCertificate(ProducerKind kind) throws Exception {
        Map<String, Object> client = cluster.clientConfig(Listener.SSL_MUTUAL);
        client.keySet().removeIf(key -> key.startsWith("ssl.key"));
        assertRefused(kind, client, SslAuthenticationException.class);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailWhenTheCertificateIsForAnotherHostUnlessToldNotToCare(ProducerKind kind) throws Exception {
        Map<String, Object> client = cluster.clientConfig(Listener.SSL_OTHER_HOST);
        assertRefused(kind, client, SslAuthenticationException.class);

        String topic = topic("other-host", kind);
        try (Producer<byte[], byte[]> careless = kind.create(client, "ssl.endpoint.identification.algorithm", "")) {
            assertThat(careless.send(record(topic)).get().hasOffset()).isTrue();
        }
    }

    /** Both calls fail with the cause and not with a time-out; the second in the same way as the first. */
    private static void assertRefused(
            ProducerKind kind, Map<String, Object> client, Class<? extends Exception> expected) throws Exception {
        Producer<byte[], byte[]> producer = kind.create(client, "max.block.ms", 60_000, "reconnect.backoff.ms", 10);
        LeakOracle leaks = LeakOracle.of(producer);
        try (producer) {
            for (int i = 0; i < 2; i++) {
                Future<RecordMetadata> future = producer.send(record("any"));
                assertThat(future).isDone();
                assertThatThrownBy(future::get).hasCauseInstanceOf(expected);
                assertThatThrownBy(() -> producer.partitionsFor("any")).isInstanceOf(expected);
            }
        }
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailOnlyTheTopicThatMayNotBeSeen(ProducerKind kind) throws Exception {
        // given
        String open = topic("seen", kind);
        String closed = topic("unseen", kind);
        allow("User:" + GUEST, AclOperation.WRITE, open);
        try (Producer<byte[], byte[]> producer = kind.create(guest())) {
            assertThat(producer.send(record(open)).get().offset()).isZero();

            // when
            Future<RecordMetadata> refused = producer.send(record(closed));

            // then
            assertThatThrownBy(refused::get).hasCauseInstanceOf(TopicAuthorizationException.class);
            assertThatThrownBy(() -> producer.partitionsFor(closed)).isInstanceOf(TopicAuthorizationException.class);
            assertThat(producer.send(record(open)).get().offset()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailOnlyTheTopicThatMayNotBeWrittenUntilItMay(ProducerKind kind) throws Exception {
        // given
        String open = topic("written", kind);
        String closed = topic("unwritten", kind);
        allow("User:" + GUEST, AclOperation.WRITE, open);
        allow("User:" + GUEST, AclOperation.DESCRIBE, closed);
        Producer<byte[], byte[]> producer = kind.create(guest());
        LeakOracle leaks = LeakOracle.of(producer);
        try (producer) {
            // when
            List<Future<RecordMetadata>> accepted = new ArrayList<>();
            List<Future<RecordMetadata>> refused = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                accepted.add(producer.send(new ProducerRecord<>(open, 0, null, new byte[10])));
                refused.add(producer.send(record(closed)));
            }

            // then
            for (int i = 0; i < 50; i++) {
                assertThat(accepted.get(i).get().offset()).isEqualTo(i);
                assertThatThrownBy(refused.get(i)::get).hasCauseInstanceOf(TopicAuthorizationException.class);
            }
            leaks.awaitFreeMemory();

            // and when the user may write it
            allow("User:" + GUEST, AclOperation.WRITE, closed);
            assertThat(producer.send(record(closed)).get().offset()).isZero();
        }
        leaks.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldFailIdempotentRecordsUntilTheClusterAllowsThem(ProducerKind kind) throws Exception {
        // given a user who may write no topic at all, and therefore gets no producer id
        String topic = topic("idempotent", kind);
        String user = "User:" + GUEST;
        allow(user, AclOperation.DESCRIBE, topic);
        AclBinding denied = acl(user, AclOperation.WRITE, "*", AclPermissionType.DENY);
        Acls.add(cluster, denied);
        Producer<byte[], byte[]> producer = kind.create(guest());
        LeakOracle leaks = LeakOracle.of(producer);
        try (producer) {
            // when
            Future<RecordMetadata> refused = sendWhenRecovered(kind, producer, record(topic));

            // then
            assertThatThrownBy(refused::get).hasCauseInstanceOf(ClusterAuthorizationException.class);
            leaks.awaitFreeMemory();

            // and when the user may write
            allow(user, AclOperation.WRITE, topic);
            Acls.remove(cluster, denied);
            assertThat(sendWhenRecovered(kind, producer, record(topic)).get().offset())
                    .isZero();
        } finally {
            Acls.remove(cluster, denied);
        }
        leaks.assertNothingLeft();
    }

    /**
     * The stock producer fails its records just before it leaves the error state in which {@code send} throws. It may be
     * in it before the first record, too, because it asks for its producer id as soon as it has a connection.
     */
    private static Future<RecordMetadata> sendWhenRecovered(
            ProducerKind kind, Producer<byte[], byte[]> producer, ProducerRecord<byte[], byte[]> record) {
        if (kind == ProducerKind.MILLRACE) {
            return producer.send(record);
        }
        AtomicReference<Future<RecordMetadata>> sent = new AtomicReference<>();
        Await.until("the producer takes records again", Duration.ofSeconds(20), () -> {
            try {
                sent.set(producer.send(record));
                return true;
            } catch (KafkaException e) {
                return false;
            }
        });
        return sent.get();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldKeepPasswordsOutOfTheLog(ProducerKind kind) throws Exception {
        // given all levels of logging
        String storePassword = cluster.clientConfig(Listener.SSL)
                .get("ssl.truststore.password")
                .toString();
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        List<Logger> loggers = Stream.of("org.apache.kafka", "dev.millrace")
                .map(name -> (Logger) LoggerFactory.getLogger(name))
                .toList();
        said.start();
        loggers.forEach(logger -> {
            logger.setLevel(Level.TRACE);
            logger.setAdditive(false);
            logger.addAppender(said);
        });

        // when
        try {
            String topic = topic("logged", kind);
            for (SaslMechanism mechanism : List.of(SaslMechanism.PLAIN, SaslMechanism.SCRAM_SHA_512)) {
                Map<String, Object> client = cluster.clientConfig(Listener.SASL_SSL, mechanism);
                client.putAll(cluster.clientConfig(Listener.SSL_MUTUAL).entrySet().stream()
                        .filter(entry -> entry.getKey().startsWith("ssl."))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
                assertThat(client).containsKey("ssl.key.password");
                try (Producer<byte[], byte[]> producer = kind.create(client)) {
                    producer.send(record(topic)).get();
                }
                String wrongUser = mechanism.clientJaas("nobody", PASSWORD);
                assertRefused(
                        kind,
                        ProducerKind.with(client, "sasl.jaas.config", wrongUser),
                        SaslAuthenticationException.class);
                assertThatThrownBy(() -> kind.create(client, "ssl.keystore.type", "no-such-type"))
                        .isInstanceOf(KafkaException.class);
            }
        } finally {
            loggers.forEach(logger -> {
                logger.setLevel(null);
                logger.setAdditive(true);
                logger.detachAppender(said);
            });
        }

        // then
        assertThat(said.list).hasSizeGreaterThan(100);
        assertThat(said.list)
                .extracting(
                        event -> event.getFormattedMessage() + ThrowableProxyUtil.asString(event.getThrowableProxy()))
                .noneMatch(text -> text.contains(PASSWORD) || text.contains(storePassword));
    }

    private static Map<String, Object> guest() {
        return cluster.clientConfig(Listener.SASL_PLAINTEXT, SaslMechanism.SCRAM_SHA_256, GUEST);
    }

    private static void allow(String principal, AclOperation operation, String topic) throws Exception {
        Acls.add(cluster, acl(principal, operation, topic, AclPermissionType.ALLOW));
    }

    private static AclBinding acl(
            String principal, AclOperation operation, String topic, AclPermissionType permission) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
                new AccessControlEntry(principal, "*", operation, permission));
    }

    private static String topic(String name, ProducerKind kind) {
        String topic = (name + "-" + kind).toLowerCase(Locale.ROOT);
        kind.createTopic(cluster, topic, PARTITIONS, 1, Map.of());
        return topic;
    }

    private static ProducerRecord<byte[], byte[]> record(String topic) {
        return new ProducerRecord<>(topic, 0, null, new byte[10]);
    }
}
