package dev.millrace.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.cluster.TopicContents;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.support.ProducerListener;
import org.springframework.kafka.support.SendResult;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.util.backoff.FixedBackOff;

/** With a {@link MillraceProducerFactory} Spring Kafka works with our producers as with the stock ones. */
@Tag("thorough")
class SpringKafkaIT {
    @AutoClose
    private static final KafkaCluster cluster = KafkaCluster.builder().start();

    /** What is tested, and the reference; the same calls must have the same outcome. */
    private enum Factory {
        MILLRACE {
            @Override
            DefaultKafkaProducerFactory<String, String> with(Map<String, Object> configs) {
                return MillraceProducerFactory.from(new DefaultKafkaProducerFactory<>(configs));
            }
        },
        STOCK {
            @Override
            DefaultKafkaProducerFactory<String, String> with(Map<String, Object> configs) {
                return new DefaultKafkaProducerFactory<>(configs);
            }
        };

        abstract DefaultKafkaProducerFactory<String, String> with(Map<String, Object> configs);
    }

    @ParameterizedTest
    @EnumSource(Factory.class)
    void shouldCompleteFuturesAndTellTheListenerWhenATemplateSends(Factory kind) throws Exception {
        // given
        String topic = topic("template", kind);
        DefaultKafkaProducerFactory<String, String> factory = factory(kind, Map.of("client.id", "spring"));
        Listener told = new Listener();
        List<String> factoryTold = new ArrayList<>();
        factory.addListener(new ProducerFactory.Listener<>() {
            @Override
            public void producerAdded(String id, Producer<String, String> producer) {
                factoryTold.add(id);
            }
        });
        KafkaTemplate<String, String> template = new KafkaTemplate<>(factory);
        template.setProducerListener(told);

        // when
        List<CompletableFuture<SendResult<String, String>>> results = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            results.add(template.send(topic, "key-" + i, "value-" + i));
        }
        template.flush();
        CompletableFuture<SendResult<String, String>> tooLarge = template.send(topic, "key", "x".repeat(60_000));

        // then
        for (int i = 0; i < 100; i++) {
            RecordMetadata metadata = results.get(i).get(0, TimeUnit.SECONDS).getRecordMetadata();
            assertThat(metadata.offset()).isEqualTo(i);
        }
        assertThatThrownBy(tooLarge::get).hasRootCauseInstanceOf(RecordTooLargeException.class);
        assertThatThrownBy(() -> template.send(topic, "key", "x".repeat(2_000_000)))
                .hasRootCauseInstanceOf(RecordTooLargeException.class);
        assertThat(read(topic)).isEqualTo(values(100));
        assertThat(told.sent).containsExactlyElementsOf(values(100));
        assertThat(told.failed)
                .hasOnlyElementsOfType(RecordTooLargeException.class)
                .hasSize(2);
        assertThat(factoryTold).containsExactly("not.managed.by.Spring.spring-1");
        factory.destroy();
    }

    @ParameterizedTest
    @EnumSource(Factory.class)
    void shouldUseTheSameKindOfProducerWhenATemplateOverridesTheConfiguration(Factory kind) throws Exception {
        // given
        String topic = topic("override", kind);
        DefaultKafkaProducerFactory<String, String> factory = factory(kind, Map.of());

        // when
        KafkaTemplate<String, String> template = new KafkaTemplate<>(factory, Map.of("compression.type", "zstd"));
        template.send(topic, "key", "value-0").get();

        // then
        assertThat(template.getProducerFactory()).hasSameClassAs(factory);
        assertThat(read(topic)).isEqualTo(values(1));
        template.destroy();
    }

    @ParameterizedTest
    @EnumSource(Factory.class)
    void shouldShowWhatIsCommittedAndHideWhatIsRolledBackWhenATemplateRunsTransactions(Factory kind) {
        // given
        String topic = topic("transactions", kind);
        DefaultKafkaProducerFactory<String, String> factory =
                factory(kind, Map.of("transactional.id", "template-" + kind));
        KafkaTemplate<String, String> template = new KafkaTemplate<>(factory);
        template.setAllowNonTransactional(true);

        // when
        template.executeInTransaction(t -> t.send(topic, "key", "value-0"));
        assertThatThrownBy(() -> template.executeInTransaction(t -> {
                    t.send(topic, "key", "rolled back");
                    throw new IllegalStateException("as if the program failed");
                }))
                .hasMessage("as if the program failed");
        template.executeInTransaction(t -> {
            t.send(topic, "key", "value-1");
            return t.send(topic, "key", "value-2");
        });
        template.send(topic, "key", "value-3");
        template.flush();

        // then
        assertThat(read(topic)).isEqualTo(values(4));
        factory.destroy();
    }

    @ParameterizedTest
    @EnumSource(Factory.class)
    void shouldCopyEachRecordOnceWhenATransactionalListenerFailsNowAndThen(Factory kind) throws Exception {
        // given
        String from = topic("listener-from", kind);
        String to = topic("listener-to", kind);
        try (Producer<String, String> producer =
                new KafkaProducer<>(cluster.clientConfig(), new StringSerializer(), new StringSerializer())) {
            values(50).forEach(value -> producer.send(new ProducerRecord<>(from, value)));
        }
        DefaultKafkaProducerFactory<String, String> factory =
                factory(kind, Map.of("transactional.id", "listener-" + kind));
        KafkaTemplate<String, String> template = new KafkaTemplate<>(factory);
        Set<String> failedBefore = new HashSet<>();
        ContainerProperties properties = new ContainerProperties(from);
        properties.setKafkaAwareTransactionManager(new KafkaTransactionManager<>(factory));
        properties.setMessageListener((MessageListener<String, String>) record -> {
            template.send(to, record.value());
            if (record.offset() % 7 == 3 && failedBefore.add(record.value())) {
                throw new IllegalStateException("as if the listener failed at " + record.value());
            }
        });
        KafkaMessageListenerContainer<String, String> container = container(properties, "listener-" + kind);

        // when
        container.start();
        Await.until("all are copied", Duration.ofSeconds(60), () -> read(to).size() >= 50);
        container.stop();

        // then
        assertThat(failedBefore).hasSize(7);
        assertThat(read(to)).isEqualTo(values(50));
        factory.destroy();
    }

    private static KafkaMessageListenerContainer<String, String> container(
            ContainerProperties properties, String group) {
        Map<String, Object> configs = cluster.clientConfig();
        configs.putAll(Map.of("group.id", group, "auto.offset.reset", "earliest", "max.poll.records", 10));
        KafkaMessageListenerContainer<String, String> container = new KafkaMessageListenerContainer<>(
                new DefaultKafkaConsumerFactory<>(configs, new StringDeserializer(), new StringDeserializer()),
                properties);
        container.setAfterRollbackProcessor(
                new DefaultAfterRollbackProcessor<>(new FixedBackOff(0, FixedBackOff.UNLIMITED_ATTEMPTS)));
        return container;
    }

    private static DefaultKafkaProducerFactory<String, String> factory(Factory kind, Map<String, Object> more) {
        Map<String, Object> configs = cluster.clientConfig();
        configs.put("key.serializer", StringSerializer.class);
        configs.put("value.serializer", StringSerializer.class);
        configs.putAll(more);
        return kind.with(configs);
    }

    private static String topic(String name, Factory kind) {
        String topic = "spring-" + name + "-" + kind.name().toLowerCase(Locale.ROOT);
        // Served, because a stock producer may never recover in a topic that is not served yet (KAFKA-15591).
        cluster.createServedTopic(topic, 1, 1, Map.of("max.message.bytes", "50000"));
        return topic;
    }

    private static List<String> values(int count) {
        return IntStream.range(0, count).mapToObj(i -> "value-" + i).toList();
    }

    /** The committed values. */
    private static List<String> read(String topic) {
        return TopicContents.readCommitted(cluster, topic).stream()
                .map(ConsumerRecord::value)
                .map(value -> new String(value, StandardCharsets.UTF_8))
                .toList();
    }

    private static final class Listener implements ProducerListener<String, String> {
        private final ConcurrentLinkedQueue<String> sent = new ConcurrentLinkedQueue<>();
        private final ConcurrentLinkedQueue<Exception> failed = new ConcurrentLinkedQueue<>();

        @Override
        public void onSuccess(ProducerRecord<String, String> record, RecordMetadata metadata) {
            sent.add(record.value());
        }

        @Override
        public void onError(ProducerRecord<String, String> record, RecordMetadata metadata, Exception e) {
            failed.add(e);
        }
    }
}
