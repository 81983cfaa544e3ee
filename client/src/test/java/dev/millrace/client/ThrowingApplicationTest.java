package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.delivery.DeliveryCallback;
import dev.millrace.client.support.ProducerKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Headers;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The application's code throws on the I/O thread. There is no broker: with {@code millrace.metadata.block=false}
 * records wait for their topic, and fail.
 */
class ThrowingApplicationTest {
    private static final long PATIENCE_S = 30;
    private static final int RECORDS = 6;
    private static final Map<String, AtomicInteger> INTERCEPTED = new ConcurrentHashMap<>();

    @BeforeEach
    void forget() {
        INTERCEPTED.clear();
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveEveryWaitingRecordOneOutcomeAndEndWhateverIsThrown(Thrower thrower) throws Exception {
        // given
        Map<Integer, AtomicInteger> told = new ConcurrentHashMap<>();
        Producer<byte[], byte[]> producer = create();
        List<Future<RecordMetadata>> futures = new ArrayList<>();

        // when
        for (int i = 0; i < RECORDS; i++) {
            int number = i;
            String topic = (thrower == Thrower.INTERCEPTOR ? "throw-" : "calm-") + i % 2;
            futures.add(producer.send(
                    new ProducerRecord<>(topic, new byte[10]),
                    thrower.after(() -> told.computeIfAbsent(number, n -> new AtomicInteger())
                            .incrementAndGet())));
        }
        inTime(producer::flush);

        // then
        for (Future<RecordMetadata> future : futures) {
            assertThatThrownBy(() -> future.get(0, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(TimeoutException.class);
        }
        assertThat(told)
                .hasSize(RECORDS)
                .allSatisfy((number, times) -> assertThat(times).hasValue(1));
        assertThat(INTERCEPTED)
                .hasSize(2)
                .allSatisfy((topic, times) -> assertThat(times).hasValue(RECORDS / 2));
        Future<RecordMetadata> later = producer.send(new ProducerRecord<>("calm", new byte[10]));
        assertThatThrownBy(() -> later.get(PATIENCE_S, TimeUnit.SECONDS)).hasCauseInstanceOf(TimeoutException.class);
        inTime(producer::close);
    }

    @Test
    void shouldGiveEveryWaitingRecordOneOutcomeWhenItIsClosedByForce() throws Exception {
        AtomicInteger told = new AtomicInteger();
        Producer<byte[], byte[]> producer = create("max.block.ms", 600_000);
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            futures.add(producer.send(
                    new ProducerRecord<>("throw-" + i % 2, new byte[10]),
                    Thrower.UNLOGGABLE.after(told::incrementAndGet)));
        }

        inTime(() -> producer.close(Duration.ZERO));

        assertThat(futures).allMatch(Future::isDone);
        assertThat(told).hasValue(RECORDS);
        assertThat(INTERCEPTED)
                .hasSize(2)
                .allSatisfy((topic, times) -> assertThat(times).hasValue(RECORDS / 2));
    }

    private static Producer<byte[], byte[]> create(Object... more) {
        Map<String, Object> configs = ProducerKind.with(
                Map.of(
                        "bootstrap.servers",
                        "localhost:1",
                        "millrace.metadata.block",
                        false,
                        "max.block.ms",
                        50,
                        "interceptor.classes",
                        Intercepting.class.getName()),
                more);
        return ProducerKind.MILLRACE.create(configs);
    }

    private static void inTime(Runnable call) throws Exception {
        CompletableFuture.runAsync(call).get(PATIENCE_S, TimeUnit.SECONDS);
    }

    /** Which code throws, and what. */
    enum Thrower {
        INTERCEPTOR {
            @Override
            Callback after(Runnable telling) {
                return (metadata, error) -> telling.run();
            }
        },
        CALLBACK {
            @Override
            Callback after(Runnable telling) {
                return (metadata, error) -> {
                    telling.run();
                    throw new AssertionError("thrown by a callback on purpose");
                };
            }
        },
        DELIVERY_CALLBACK {
            @Override
            Callback after(Runnable telling) {
                return (DeliveryCallback) (metadata, error, certainty) -> {
                    telling.run();
                    throw new OutOfMemoryError("thrown by a callback on purpose");
                };
            }
        },
        UNLOGGABLE {
            @Override
            Callback after(Runnable telling) {
                return (metadata, error) -> {
                    telling.run();
                    throw new Unloggable();
                };
            }
        };

        abstract Callback after(Runnable telling);
    }

    private static final class Unloggable extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new StackOverflowError("thrown by getMessage() on purpose");
        }
    }

    /** Throws for some topics. */
    public static final class Intercepting implements ProducerInterceptor<byte[], byte[]> {
        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return record;
        }

        /** For versions that tell no headers. */
        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error) {
            onAcknowledgement(metadata, error, null);
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception error, Headers headers) {
            if (!metadata.topic().equals("calm")) {
                INTERCEPTED
                        .computeIfAbsent(metadata.topic(), topic -> new AtomicInteger())
                        .incrementAndGet();
            }
            if (metadata.topic().startsWith("throw-")) {
                throw new LinkageError("thrown by an interceptor on purpose");
            }
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }
}
