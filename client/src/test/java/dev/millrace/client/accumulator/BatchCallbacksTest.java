package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
        List<RecordFuture.WithCallback> futures =
                IntStream.range(0, records).mapToObj(this::future).toList();

        futures.forEach(callbacks::add);

        for (int i = 0; i < records; i++) {
            assertThat(callbacks.get(i)).isSameAs(futures.get(i));
        }
        assertThat(callbacks.get(records)).isNull();
    }

    @Test
    void shouldHaveNothingForRecordsWithoutCallback() {
        callbacks.add(future(1));
        callbacks.add(future(BatchTail.MAX_RECORDS - 1));

        assertThat(callbacks.isEmpty()).isFalse();
        assertThat(callbacks.get(0)).isNull();
        assertThat(callbacks.get(1).index()).isEqualTo(1);
        assertThat(callbacks.get(2)).isNull();
        assertThat(callbacks.get(BatchTail.MAX_RECORDS - 1).index()).isEqualTo(BatchTail.MAX_RECORDS - 1);
    }

    /** More threads than there are lists, too. */
    @ParameterizedTest
    @ValueSource(ints = {2, 32, 64, 65, 200})
    void shouldKeepEachCallbackAtItsIndexWhenManyThreadsAdd(int threads) throws Exception {
        int records = 4_000;
        AtomicInteger next = new AtomicInteger();
        CountDownLatch started = new CountDownLatch(threads);
        ExecutorService pool = Executors.newCachedThreadPool(AnonymousThread::new);
        List<Future<?>> running = new ArrayList<>();

        for (int t = 0; t < threads; t++) {
            running.add(pool.submit(() -> {
                started.countDown();
                started.await();
                for (int index = next.getAndIncrement(); index < records; index = next.getAndIncrement()) {
                    callbacks.add(future(index));
                }
                return null;
            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
        pool.shutdown();

        for (int i = 0; i < records; i++) {
            assertThat(callbacks.get(i).index()).isEqualTo(i);
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

    private RecordFuture.WithCallback future(int index) {
        return (RecordFuture.WithCallback)
                RecordFuture.of(result, index, TestRecord.ofSize(1).encodable(), (metadata, error) -> {});
    }
}
