package dev.millrace.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.Clients;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("thorough")
class KafkaClusterIT {
    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder()
            .brokers(3)
            .listeners(Listener.values())
            .setting("message.max.bytes", "2000000")
            .setting("broker.session.timeout.ms", "3000") // each broker is killed in turn: by default 9 s each
            .start();

    @Test
    void shouldServeWhenThereIsOneBroker() throws Exception {
        try (KafkaCluster single = KafkaCluster.builder().start()) {
            single.createServedTopic("one", 2, 1, Map.of()); // it asks for a leader

            Clients.produce(single.clientConfig(), "one", "hello");

            assertThat(single.brokers()).isEqualTo(1);
            assertThat(single.leader("one", 1)).isEqualTo(1);
            assertThat(Clients.consume(single.clientConfig(), "one", 1)).containsExactly("hello");
        }
    }

    @Test
    void shouldDeviateFromKafkasDefaultsOnlyWhereItSaysWhy() throws Exception {
        try (KafkaCluster single = KafkaCluster.builder().start()) {
            assertThat(deviations(single))
                    .containsExactlyInAnyOrder(
                            "group.initial.rebalance.delay.ms",
                            "offsets.topic.replication.factor",
                            "transaction.state.log.replication.factor",
                            "transaction.state.log.min.isr",
                            "share.coordinator.state.topic.replication.factor",
                            "share.coordinator.state.topic.min.isr");
        }
    }

    @Test
    void shouldHaveKafkasDefaultsAndControllersApartWhenAskedFor() throws Exception {
        try (KafkaCluster three =
                KafkaCluster.builder().brokers(3).kafkaDefaults().start()) {
            assertThat(deviations(three)).isEmpty();
            assertThat(three.admin().describeMetadataQuorum().quorumInfo().get().voters())
                    .hasSize(3)
                    .noneMatch(voter -> voter.replicaId() <= three.brokers());
        }
    }

    /** The settings of a broker whose value is not Kafka's, except those that say who and where it is. */
    private static List<String> deviations(KafkaCluster cluster) throws Exception {
        Set<String> describing = Set.of(
                "broker.id", "broker.rack", "listener.security.protocol.map", "log.dirs", "node.id", "process.roles");
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        return cluster
                .admin()
                .describeConfigs(List.of(broker), new DescribeConfigsOptions().includeSynonyms(true))
                .values()
                .get(broker)
                .get()
                .entries()
                .stream()
                .filter(entry -> entry.source() == ConfigSource.STATIC_BROKER_CONFIG)
                .filter(entry -> !describing.contains(entry.name())
                        && !entry.name()
                                .matches(".*listeners?(\\.name|\\.names)?|controller\\.quorum.*|metadata.log.dir"))
                .filter(entry -> entry.synonyms().stream()
                        .noneMatch(synonym -> synonym.source() == ConfigSource.DEFAULT_CONFIG
                                && Objects.equals(synonym.value(), entry.value())))
                .map(ConfigEntry::name)
                .toList();
    }

    @Test
    void shouldSpreadLeadersWhenThereAreThreeBrokers() throws Exception {
        cluster.createServedTopic("spread", 3, 3, Map.of("min.insync.replicas", "2")); // it asks for the leaders

        TopicDescription description = cluster.admin()
                .describeTopics(List.of("spread"))
                .topicNameValues()
                .get("spread")
                .get();

        assertThat(description.partitions()).extracting(p -> p.leader().id()).containsExactlyInAnyOrder(1, 2, 3);
    }

    @Test
    void shouldRefuseTopicWhenItExists() {
        cluster.createTopic("twice", 1, 1, Map.of());

        assertThatThrownBy(() -> cluster.createTopic("twice", 1, 1, Map.of())).isInstanceOf(TopicExistsException.class);
    }

    @Test
    void shouldWorkOnAndKeepDataWhenEachBrokerIsKilledInTurn() throws Exception {
        cluster.createTopic("replicated", 1, 3, Map.of());
        cluster.createTopic("alone", 1, 1, Map.of());
        Clients.produce(cluster.clientConfig(), "alone", "on one broker only");

        for (int broker = 1; broker <= cluster.brokers(); broker++) {
            cluster.kill(broker);
            Clients.produce(cluster.clientConfig(), "replicated", "without " + broker);
            cluster.restart(broker);
        }

        assertThat(Clients.consume(cluster.clientConfig(), "replicated", 3))
                .containsExactly("without 1", "without 2", "without 3");
        assertThat(Clients.consume(cluster.clientConfig(), "alone", 1)).containsExactly("on one broker only");
    }

    @Test
    void shouldAnswerOnlyAfterResumeWhenLeaderIsPaused() throws Exception {
        cluster.createServedTopic("paused", 1, 1, Map.of()); // it asks for the leader
        Map<String, Object> config = cluster.clientConfig();
        int leader = cluster.leader("paused", 0);
        try (Producer<String, String> producer = Clients.producer(config)) {
            producer.send(new ProducerRecord<>("paused", 0, null, "before")).get();

            cluster.pause(leader);
            Future<RecordMetadata> sent;
            try {
                sent = producer.send(new ProducerRecord<>("paused", 0, null, "during"));
                assertThatThrownBy(() -> sent.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            } finally {
                cluster.resume(leader);
            }
            assertThat(sent.get().offset()).isEqualTo(1);
        }
        assertThat(Clients.consume(config, "paused", 2)).containsExactly("before", "during");
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"SSL_EXPIRED", "SSL_OTHER_HOST"})
    void shouldProduceAndConsumeWhenConnectedThrough(Listener listener) throws Exception {
        String topic = "listener-" + listener;
        cluster.createTopic(topic, 1, 1, Map.of());

        Clients.produce(cluster.clientConfig(listener), topic, "hello");

        assertThat(Clients.consume(cluster.clientConfig(listener), topic, 1)).containsExactly("hello");
    }

    @ParameterizedTest
    @EnumSource
    void shouldProduceAndConsumeWhenAuthenticatedBy(SaslMechanism mechanism) throws Exception {
        String topic = "mechanism-" + mechanism;
        cluster.createTopic(topic, 1, 1, Map.of());
        Map<String, Object> config = cluster.clientConfig(Listener.SASL_PLAINTEXT, mechanism);

        Clients.produce(config, topic, "hello");

        assertThat(Clients.consume(config, topic, 1)).containsExactly("hello");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseClientWhenPasswordIsWrongFor(SaslMechanism mechanism) {
        Map<String, Object> config = cluster.clientConfig(Listener.SASL_PLAINTEXT, mechanism);
        config.put("sasl.jaas.config", mechanism.clientJaas("millrace", "wrong"));

        assertThatThrownBy(() -> Clients.produce(config, "any", "hello"))
                .hasRootCauseInstanceOf(SaslAuthenticationException.class);
    }

    @Test
    void shouldSayThatPortIsTakenWhenStoppedBrokerCannotComeBack() throws Exception {
        URI address = URI.create("tcp://" + cluster.bootstrapServers().split(",", 2)[0]);
        cluster.stop(1);

        try (ServerSocket thief = new ServerSocket(address.getPort(), 1, InetAddress.getByName(address.getHost()))) {
            assertThat(thief.isBound()).isTrue();
            assertThatThrownBy(() -> cluster.restart(1)).hasMessageContaining("Address already in use");
        }
        cluster.restart(1);
    }

    @Test
    void shouldShowBrokersOwnWordsWhenItDoesNotStart() {
        KafkaCluster.Builder builder = KafkaCluster.builder().setting("num.io.threads", "-1");

        assertThatThrownBy(builder::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("broker-1 ended with exit code 1")
                .hasMessageContaining("num.io.threads");
    }

    @Test
    void shouldNameWhatIsWrongWhenAskedForTheImpossible() {
        assertThatThrownBy(() -> KafkaCluster.builder().setting("node.id", "7"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("node.id=7");
        assertThatThrownBy(() -> KafkaCluster.builder().brokers(0)).hasMessage("brokers is 0, must be 1 or more");
        assertThatThrownBy(() -> cluster.kill(4)).hasMessage("No broker 4, only 1 to 3");
    }

    @Test
    void shouldGiveUpWhenConditionNeverHolds() {
        assertThatThrownBy(() -> Await.until("pigs fly", Duration.ofMillis(50), () -> false))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Waited 50 ms in vain until pigs fly");
    }
}
