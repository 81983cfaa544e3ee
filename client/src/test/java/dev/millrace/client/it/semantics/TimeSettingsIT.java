package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.stub.StubBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * With every setting of a time at its smallest and its largest value, a record is sent, and the producer closes. The
 * stock producer does so too, except with values that are too large for it.
 */
class TimeSettingsIT {
    private static final String TOPIC = "t";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Fails with both producers: no answer comes in time, or the settings contradict each other. */
    private static final Map<String, Object> UNUSABLE =
            Map.of("request.timeout.ms", 0, "delivery.timeout.ms", 0, "metadata.recovery.rebootstrap.trigger.ms", 0L);

    /**
     * With these the stock producer closes each connection at once, or waits that long for the next metadata request.
     */
    private static final List<String> TOO_LONG_FOR_STOCK = List.of("connections.max.idle.ms", "retry.backoff.ms");

    @AutoClose
    private static final StubBroker broker =
            StubBroker.builder().topic(TOPIC, 3).start();

    /** All of {@link ProducerConfig}, also those that a later version adds, except those of OAuth and Kerberos. */
    static Stream<ConfigDef.ConfigKey> times() {
        return ProducerConfig.configDef().configKeys().values().stream()
                .filter(key -> key.name.endsWith(".ms") && !key.name.startsWith("sasl."));
    }

    @ParameterizedTest
    @MethodSource("times")
    void shouldSendARecordWhateverTheTimeIs(ConfigDef.ConfigKey key) throws Exception {
        for (Object value : extremes(key)) {
            for (ProducerKind kind : ProducerKind.values()) {
                boolean tooLong = isLong(value) && TOO_LONG_FOR_STOCK.contains(key.name);
                if (!value.equals(UNUSABLE.get(key.name)) && !(kind == ProducerKind.STOCK && tooLong)) {
                    sendAndClose(kind, key.name, value);
                }
            }
        }
    }

    private static List<Object> extremes(ConfigDef.ConfigKey key) {
        boolean isInt = key.type == ConfigDef.Type.INT;
        List<Object> values = new ArrayList<>(List.of(Integer.MAX_VALUE, Integer.MAX_VALUE - 1));
        if (!isInt) {
            values.replaceAll(value -> ((Integer) value).longValue());
            values.addAll(List.of(Long.MAX_VALUE, Long.MAX_VALUE - 1));
        }
        values.add(smallest(key));
        return values;
    }

    /** The smallest value that is not negative; negative values have special meanings. */
    private static Object smallest(ConfigDef.ConfigKey key) {
        return Stream.of("0", "1", "5000")
                .map(least -> ConfigDef.parseType(key.name, least, key.type))
                .filter(value -> isLegal(key, value))
                .findFirst()
                .orElseThrow();
    }

    private static boolean isLegal(ConfigDef.ConfigKey key, Object value) {
        try {
            if (key.validator != null) {
                key.validator.ensureValid(key.name, value);
            }
            return true;
        } catch (ConfigException e) {
            return false;
        }
    }

    private static boolean isLong(Object value) {
        return ((Number) value).longValue() >= Integer.MAX_VALUE - 1;
    }

    private static void sendAndClose(ProducerKind kind, String key, Object value) throws Exception {
        String what = kind + " with " + key + "=" + value;
        Producer<byte[], byte[]> producer = kind.create(broker.clientConfig(), settings(key, value));
        try {
            within(what + " sends", () -> sendUntilAcknowledged(producer));
        } finally {
            within(what + " closes", () -> producer.close(Duration.ZERO));
        }
    }

    /** Settings that limit this one get the same value. */
    private static Object[] settings(String key, Object value) {
        String limit = key.replace(".ms", ".max.ms");
        return ProducerConfig.configNames().contains(limit)
                ? new Object[] {key, value, limit, value}
                : new Object[] {key, value};
    }

    /** With {@code max.block.ms=0} the first records are refused. */
    private static void sendUntilAcknowledged(Producer<byte[], byte[]> producer) {
        Await.until("a record is acknowledged", PATIENCE, () -> {
            var future = producer.send(new ProducerRecord<>(TOPIC, new byte[10]));
            producer.flush();
            try {
                future.get();
                return true;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(org.apache.kafka.common.errors.TimeoutException.class);
                return false;
            }
        });
    }

    private static void within(String what, Runnable action) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                action.run();
                done.complete(null);
            } catch (Throwable t) {
                done.completeExceptionally(t);
            }
        });
        thread.setDaemon(true);
        thread.start();
        assertThat(done).as(what).succeedsWithin(PATIENCE.plusSeconds(10));
    }

    /** A program that sends on {@code flush} only sets the longest linger. */
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldSendOnFlushOnlyWhenLingeringForEver(ProducerKind kind) throws Exception {
        for (Object linger : new Object[] {Integer.MAX_VALUE, Long.MAX_VALUE}) {
            try (Producer<byte[], byte[]> producer =
                    kind.create(broker.clientConfig(), "linger.ms", linger, "delivery.timeout.ms", Integer.MAX_VALUE)) {
                var future = producer.send(new ProducerRecord<>(TOPIC, 0, null, new byte[10]));
                assertThatThrownBy(() -> future.get(100, TimeUnit.MILLISECONDS))
                        .isInstanceOf(java.util.concurrent.TimeoutException.class);

                producer.flush();

                assertThat(future.get(0, TimeUnit.SECONDS).hasOffset()).isTrue();
            }
        }
    }
}
