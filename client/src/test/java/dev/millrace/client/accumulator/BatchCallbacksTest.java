package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.delivery.DeliveryCertainty;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The callbacks of a batch until it is acknowledged. */
class BatchCallbacksTest {
    private final BatchResult result = new BatchResult(new TopicPartition("t", 0), null);
    private final BatchCallbacks callbacks = new BatchCallbacks();

    @Test
    void shouldBeEmptyBeforeTheFirst() {
        assertThat(callbacks.isEmpty()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 5, 8, 9, 1_000, 10_000})
    void shouldKeepEachCallbackOfOneThreadAtItsIndex(int records) {
        List<Callback> given = IntStream.range(0, records).mapToObj(this::add).toList();

        for (int i = 0; i < records; i++) {
            assertThat(callbacks.callback(i)).isSameAs(given.get(i));
        }
        assertThat(callbacks.callback(records)).isNull();
    }

    @Test
    void shouldHaveNothingForRecordsWithoutCallback() {
        Callback first = add(1);
        Callback last = add(BatchTail.MAX_RECORDS - 1);

        assertThat(callbacks.isEmpty()).isFalse();
        assertThat(callbacks.callback(0)).isNull();
        assertThat(callbacks.callback(1)).isSameAs(first);
        assertThat(callbacks.callback(2)).isNull();
        assertThat(callbacks.callback(BatchTail.MAX_RECORDS - 1)).isSameAs(last);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "-1, -1", "-1, 100", "70000, -1", "7, 100"})
    void shouldKeepWhatTheMetadataNeeds(int keySize, int valueSize) {
        byte[] key = keySize == -1 ? null : new byte[keySize];
        byte[] value = valueSize == -1 ? null : new byte[valueSize];
        callbacks.add(3, new EncodableRecord(Long.MAX_VALUE, key, value, RecordEncoder.NO_HEADERS), (md, e) -> {});
        result.decide(new BatchOutcome(40, -1, null, Map.of(), DeliveryCertainty.PERSISTED));

        assertThat(callbacks.callback(3)).isNotNull();
        RecordMetadata metadata = callbacks.metadata(3, result, 2);

        assertThat(metadata.offset()).isEqualTo(42);
        assertThat(metadata.timestamp()).isEqualTo(Long.MAX_VALUE);
        assertThat(metadata.serializedKeySize()).isEqualTo(keySize);
        assertThat(metadata.serializedValueSize()).isEqualTo(valueSize);
    }

    /** More threads than there are lists, too. */
    @ParameterizedTest
    @ValueSource(ints = {2, 32, 64, 65, 200})
    void shouldKeepEachCallbackAtItsIndexWhenManyThreadsAdd(int threads) throws Exception {
        int records = 4_000;
        AtomicInteger next = new AtomicInteger();
        AtomicReferenceArray<Callback> given = new AtomicReferenceArray<>(records);
        CountDownLatch started = new CountDownLatch(threads);
        ExecutorService pool = Executors.newCachedThreadPool(AnonymousThread::new);
        List<Future<?>> running = new ArrayList<>();

        for (int t = 0; t < threads; t++) {
            running.add(pool.submit(() -> {
                started.countDown();
                started.await();
                for (int index = next.getAndIncrement(); index < records; index = next.getAndIncrement()) {
                    given.set(index, add(index));
                }
                return null;
            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
        pool.shutdown();

        for (int i = 0; i < records; i++) {
            assertThat(callbacks.callback(i)).isSameAs(given.get(i));
        }
    }

    /** Its id must not be asked for between claim and commit. */
    private static final class AnonymousThread extends Thread {
        AnonymousThread(Runnable task) {
            super(task);
        }

        @Override
        public long getId() {
            throw new UnsupportedOperationException("thrown on purpose");
        }
    }

    /** Adds a callback that equals no other, and returns it. */
    private Callback add(int index) {
        Callback callback = new Callback() {
            @Override
            public void onCompletion(RecordMetadata metadata, Exception error) {}
        };
        callbacks.add(index, TestRecord.ofSize(1).encodable(), callback);
        return callback;
    }
}
