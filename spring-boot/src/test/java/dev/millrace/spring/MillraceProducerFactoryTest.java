package dev.millrace.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceProducer;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.core.TransactionIdSuffixStrategy;
import org.springframework.util.ReflectionUtils;

/** No producer here ever meets a broker. */
class MillraceProducerFactoryTest {
    /** What no factory is given: what it made of the suppliers, and its producer. */
    private static final Set<String> MADE_BY_THE_FACTORY =
            Set.of("keySerializerSupplier", "valueSerializerSupplier", "producer");

    private final Map<String, Object> configs =
            Map.of("bootstrap.servers", "localhost:1", "key.serializer", StringSerializer.class, "color", "configured");

    @Test
    void shouldTakeOverAllThatAFactoryWasGiven() throws Exception {
        // given
        DefaultKafkaProducerFactory<String, String> original = new DefaultKafkaProducerFactory<>(configs);
        original.setKeySerializerSupplier(StringSerializer::new);
        original.setValueSerializerSupplier(StringSerializer::new);
        original.setConfigureSerializers(false);
        original.setTransactionIdPrefix("prefix-");
        original.setTransactionIdSuffixStrategy(new FixedSuffix());
        original.setPhysicalCloseTimeout(7);
        original.setProducerPerThread(true);
        original.setMaxAge(Duration.ofMinutes(8));
        original.setBootstrapServersSupplier(() -> "localhost:2");
        original.setBeanName("bean");
        original.updateConfigs(Map.of("client.id", "client"));
        original.addListener(new ProducerFactory.Listener<>() {});
        original.addPostProcessor(producer -> producer);
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            original.setApplicationContext(context);

            // when
            MillraceProducerFactory<String, String> factory = MillraceProducerFactory.from(original);

            // then
            assertThat(factory.getConfigurationProperties())
                    .isEqualTo(original.getConfigurationProperties())
                    .containsEntry("bootstrap.servers", "localhost:2")
                    .containsEntry("color", "configured");
            assertThat(factory.getListeners()).hasSize(1).isEqualTo(original.getListeners());
            assertThat(factory.getPostProcessors()).hasSize(1).isEqualTo(original.getPostProcessors());
            // And whatever else it has, in this version of Spring Kafka.
            DefaultKafkaProducerFactory<String, String> untouched = new DefaultKafkaProducerFactory<>(configs);
            for (Field field : mutableFields()) {
                assertThat(field.get(factory))
                        .as(field.getName())
                        .isEqualTo(field.get(original))
                        .isNotEqualTo(field.get(untouched));
            }
        }
    }

    @Test
    void shouldConfigureSerializersWithItsOwnConfiguration() {
        // given
        Supplier<Serializer<String>> supplier = ColoredSerializer::new;
        MillraceProducerFactory<String, String> factory =
                MillraceProducerFactory.from(new DefaultKafkaProducerFactory<>(configs, supplier, supplier));

        // when
        factory.updateConfigs(Map.of("color", "updated"));

        // then
        assertThat(((ColoredSerializer) factory.getKeySerializer()).color).isEqualTo("updated, a key's");
        assertThat(((ColoredSerializer) factory.getValueSerializer()).color).isEqualTo("updated, a value's");
    }

    @Test
    void shouldHandProducersToPostProcessorsInOrder() {
        // given
        List<Producer<String, String>> seen = new ArrayList<>();
        MillraceProducerFactory<String, String> factory = factory();
        factory.addPostProcessor(producer -> {
            seen.add(producer);
            return producer;
        });
        factory.addPostProcessor(producer -> {
            seen.add(producer);
            return producer;
        });

        // when
        factory.createProducer();

        // then
        assertThat(seen).hasSize(2).hasOnlyElementsOfType(MillraceProducer.class);
        factory.destroy();
    }

    @Test
    void shouldMakeMillraceProducersForATemplateThatOverridesTheConfiguration() {
        // given
        MillraceProducerFactory<String, String> factory = factory();
        factory.setTransactionIdPrefix("prefix-");
        factory.setPhysicalCloseTimeout(7);
        factory.addPostProcessor(producer -> producer);

        // when
        KafkaTemplate<String, String> template = new KafkaTemplate<>(factory, Map.of("color", "overridden"));

        // then
        ProducerFactory<String, String> copy = template.getProducerFactory();
        assertThat(copy).isInstanceOf(MillraceProducerFactory.class).isNotSameAs(factory);
        assertThat(copy.getConfigurationProperties()).containsEntry("color", "overridden");
        assertThat(copy.getTransactionIdPrefix()).isEqualTo("prefix-");
        assertThat(copy.getPhysicalCloseTimeout()).isEqualTo(Duration.ofSeconds(7));
        assertThat(copy.getPostProcessors()).isEqualTo(factory.getPostProcessors());
    }

    @Test
    void shouldLoadClassesAsTheApplicationDoesWhateverThreadAsks() throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader ofThread = thread.getContextClassLoader();
        try (URLClassLoader ofApplication = new URLClassLoader(new URL[0], ofThread);
                GenericApplicationContext context = new GenericApplicationContext()) {
            // given
            List<ClassLoader> used = new ArrayList<>();
            context.setClassLoader(ofApplication);
            MillraceProducerFactory<String, String> factory = factory();
            factory.setApplicationContext(context);
            factory.addPostProcessor(producer -> {
                used.add(thread.getContextClassLoader());
                return producer;
            });

            // when
            factory.createProducer();

            // then
            assertThat(used).containsExactly(ofApplication);
            assertThat(thread.getContextClassLoader()).isSameAs(ofThread);
            factory.destroy();
        }
    }

    @Test
    void shouldLetSpringPutAProxyBeforeIt() {
        ProxyFactory proxy = new ProxyFactory(factory());
        proxy.setProxyTargetClass(true);

        assertThat(((MillraceProducerFactory<?, ?>) proxy.getProxy()).getConfigurationProperties())
                .isEqualTo(configs);
    }

    private MillraceProducerFactory<String, String> factory() {
        return MillraceProducerFactory.from(
                new DefaultKafkaProducerFactory<>(configs, new StringSerializer(), new StringSerializer()));
    }

    /** Of the stock factory and its superclasses. */
    private static List<Field> mutableFields() {
        List<Field> fields = new ArrayList<>();
        ReflectionUtils.doWithFields(
                DefaultKafkaProducerFactory.class,
                field -> {
                    field.setAccessible(true);
                    fields.add(field);
                },
                field -> (field.getModifiers() & (Modifier.STATIC | Modifier.FINAL)) == 0
                        && !MADE_BY_THE_FACTORY.contains(field.getName()));
        return fields;
    }

    private static final class FixedSuffix implements TransactionIdSuffixStrategy {
        @Override
        public String acquireSuffix(String txIdPrefix) {
            return "0";
        }

        @Override
        public void releaseSuffix(String txIdPrefix, String suffix) {}
    }

    /** Remembers what it was configured with. */
    private static final class ColoredSerializer extends StringSerializer {
        private String color;

        @Override
        public void configure(Map<String, ?> configs, boolean isKey) {
            color = configs.get("color") + (isKey ? ", a key's" : ", a value's");
        }
    }
}
