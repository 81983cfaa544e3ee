package dev.millrace.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.millrace.client.MillraceProducer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaProducerFactoryCustomizer;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.mock.MockProducerFactory;
import org.springframework.kafka.transaction.KafkaTransactionManager;

/** What becomes of an application's producer factories. No producer here ever meets a broker. */
class MillraceAutoConfigurationTest {
    private static final String NO_BROKER = "localhost:1";

    /** An application that has only the beans that a test gives it. */
    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(MillraceAutoConfiguration.class));

    /** An application that also has the beans that Spring Boot makes. */
    private final ApplicationContextRunner bootApplication = application
            .withConfiguration(AutoConfigurations.of(KafkaAutoConfiguration.class))
            .withPropertyValues("spring.kafka.bootstrap-servers=" + NO_BROKER);

    @Test
    void shouldBeFoundBySpringBoot() {
        assertThat(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader()))
                .contains(MillraceAutoConfiguration.class.getName());
    }

    @Test
    void shouldReplaceTheFactoryOfSpringBootWithAllThatItWasGiven() {
        // given
        KafkaConnectionDetails details = () -> List.of("localhost:2");

        bootApplication
                .withBean(KafkaConnectionDetails.class, () -> details)
                .withBean(
                        DefaultKafkaProducerFactoryCustomizer.class,
                        () -> factory -> factory.setPhysicalCloseTimeout(7))
                .withPropertyValues(
                        "spring.kafka.producer.transaction-id-prefix=orders-",
                        "spring.kafka.producer.compression-type=zstd")
                // when
                .run(context -> {
                    // then
                    assertThat(context).hasNotFailed();
                    MillraceProducerFactory<?, ?> factory = context.getBean(MillraceProducerFactory.class);
                    assertThat(factory.getTransactionIdPrefix()).isEqualTo("orders-");
                    assertThat(factory.getConfigurationProperties())
                            .containsEntry("compression.type", "zstd")
                            .containsEntry("bootstrap.servers", List.of("localhost:2"));
                    assertThat(factory.getPhysicalCloseTimeout()).isEqualTo(Duration.ofSeconds(7));
                    assertThat(context.getBean(KafkaTemplate.class).getProducerFactory())
                            .isSameAs(factory);
                    assertThat(context.getBean(KafkaTransactionManager.class).getProducerFactory())
                            .isSameAs(factory);
                });
    }

    @Test
    void shouldMakeMillraceProducers() {
        bootApplication.run(context -> {
            MillraceProducerFactory<?, ?> factory = context.getBean(MillraceProducerFactory.class);

            try (Producer<?, ?> producer = factory.createRawProducer(factory.getConfigurationProperties())) {
                assertThat(producer).isInstanceOf(MillraceProducer.class);
            }
        });
    }

    @Test
    void shouldReplaceAFactoryOfTheApplication() {
        application
                .withBean("orders", DefaultKafkaProducerFactory.class, () -> stockFactory("orders"))
                .withBean("bills", DefaultKafkaProducerFactory.class, () -> stockFactory("bills"))
                .run(context -> {
                    assertThat(context.getBeansOfType(MillraceProducerFactory.class))
                            .containsOnlyKeys("orders", "bills");
                    ProducerFactory<?, ?> bills = context.getBean("bills", ProducerFactory.class);
                    assertThat(bills.getConfigurationProperties())
                            .isEqualTo(Map.of("bootstrap.servers", NO_BROKER, "client.id", "bills"));
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCloseTheProducersWhenTheApplicationEnds(boolean lazy) {
        // given a factory, which Spring does not stop if it comes after the start, and a producer instead of ours
        MockProducer<String, String> producer = new MockProducer<>();
        DefaultKafkaProducerFactory<String, String> stock = stockFactory("orders");
        stock.addPostProcessor(ours -> {
            ours.close();
            return producer;
        });

        application
                .withBean("factory", DefaultKafkaProducerFactory.class, () -> stock, bean -> bean.setLazyInit(lazy))
                .run(context -> {
                    context.getBean(DefaultKafkaProducerFactory.class).createProducer();
                    assertThat(producer.closed()).isFalse();
                }); // when the context is closed

        // then
        assertThat(producer.closed()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"millrace.enabled=false", "millrace.enabled=off"})
    void shouldChangeNothingWhenTurnedOff(String property) {
        bootApplication
                .withPropertyValues(property)
                .run(context ->
                        assertThat(context.getBean(ProducerFactory.class)).hasSameClassAs(stockFactory("any")));
    }

    @Test
    void shouldNameKeyAndValueThatAreNeitherTrueNorFalse() {
        application.withPropertyValues("millrace.enabled=ture").run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("millrace.enabled")
                    .hasStackTraceContaining("ture");
        });
    }

    @Test
    void shouldLeaveOtherFactoriesAndTellSo() {
        // given
        Logger logger = (Logger) LoggerFactory.getLogger(ProducerFactoryReplacer.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        logger.setLevel(Level.INFO);
        DefaultKafkaProducerFactory<Object, Object> own =
                new DefaultKafkaProducerFactory<>(Map.of("bootstrap.servers", NO_BROKER)) {};
        MockProducerFactory<Object, Object> mock = new MockProducerFactory<>(MockProducer::new);

        // when
        application
                .withBean("own", DefaultKafkaProducerFactory.class, () -> own)
                .withBean("mock", MockProducerFactory.class, () -> mock)
                .run(context -> {
                    // then
                    assertThat(context.getBean("own")).isSameAs(own);
                    assertThat(context.getBean("mock")).isSameAs(mock);
                });
        logger.detachAppender(log);
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(left("own", own), left("mock", mock));
    }

    @Test
    void shouldChangeNothingInAnApplicationWithoutSpringKafka() {
        application
                .withClassLoader(new FilteredClassLoader("org.springframework.kafka"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ProducerFactoryReplacer.class));
    }

    @Test
    void shouldFailWithTheReasonWhenMillraceRefusesTheConfiguration() {
        bootApplication
                .withPropertyValues(
                        "spring.kafka.producer.properties[transaction.two.phase.commit.enable]=true",
                        "spring.kafka.producer.transaction-id-prefix=orders-")
                .run(context -> {
                    ProducerFactory<?, ?> factory = context.getBean(ProducerFactory.class);

                    assertThatThrownBy(factory::createProducer)
                            .isInstanceOf(ConfigException.class)
                            .hasMessageContaining("transaction.two.phase.commit.enable");
                });
    }

    private static DefaultKafkaProducerFactory<String, String> stockFactory(String clientId) {
        Map<String, Object> configs = Map.of("bootstrap.servers", NO_BROKER, "client.id", clientId);
        return new DefaultKafkaProducerFactory<>(configs, new StringSerializer(), new StringSerializer());
    }

    private static String left(String name, ProducerFactory<?, ?> factory) {
        return "Millrace leaves the producer factory " + name + " as it is: its class is "
                + factory.getClass().getName() + ", not org.springframework.kafka.core.DefaultKafkaProducerFactory";
    }
}
