package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.RecordFuture;
import dev.millrace.client.accumulator.UnfinishedWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How the threads start and end. */
class IoThreadsTest {
    @Test
    void shouldFailEveryRecordAndRefuseMoreWhenAThreadDies() throws Exception {
        // given a record that lingers
        ScriptedIo io = ScriptedIo.lingering(1, 5_000);
        RecordFuture future = io.send(0);
        IoThreads threads = io.threads();
        CountDownLatch ended = new CountDownLatch(1);
        LinkageError error = new LinkageError("thrown on purpose");

        // when
        io.brokers.onPoll = () -> {
            throw error;
        };
        threads.start("dies", ended::countDown);

        // then
        assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(KafkaException.class)
                .hasRootCause(error);
        assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(threads.failure()).isSameAs(error);
        assertThat(io.send(0)).isNull();
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }

    /** A thread that runs out of stack may die so, and one that the system does not run for ten seconds looks so. */
    @Test
    void shouldFailTheRecordsOfABatchOfWhichAWriterNeverFinishesItsRecord() throws Exception {
        // given two records in a batch, a third one that is claimed only, and a record after them
        ScriptedIo io = ScriptedIo.lingering(1, 5_000);
        AtomicInteger callbacks = new AtomicInteger();
        List<RecordFuture> futures = new ArrayList<>();
        futures.add(io.send(0, (metadata, error) -> callbacks.incrementAndGet()));
        futures.add(io.send(0));
        UnfinishedWriter.claim(io.accumulator.queue(ScriptedIo.TOPIC, 0, 0));
        futures.add(io.send(0, (metadata, error) -> callbacks.incrementAndGet()));

        // when
        IoThread thread = io.thread(new FaultyShare());
        io.accumulator.close();
        thread.end(new KafkaException("The end"));

        // then
        assertThat(futures).allMatch(RecordFuture::isDone);
        for (RecordFuture future : futures) {
            assertThatThrownBy(future::get)
                    .hasCauseInstanceOf(KafkaException.class)
                    .hasStackTraceContaining("The end");
        }
        assertThat(callbacks).hasValue(2);
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }

    @Test
    void shouldEndInOrderWhenWhatEndedTheThreadCannotBeLogged() throws Exception {
        ScriptedIo io = ScriptedIo.lingering(1, 5_000);
        RecordFuture future = io.send(0);
        IoThreads threads = io.threads();

        io.brokers.onPoll = () -> {
            throw new Unloggable();
        };
        threads.start("dies", () -> {});

        assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(KafkaException.class);
        assertThat(threads.await(30_000)).isTrue();
    }

    @Test
    void shouldGiveEveryRecordItsOutcomeOnceWhenTheEndMeetsErrorsItself() {
        // given a record in flight, one that lingers, and one of another partition
        ScriptedIo io = ScriptedIo.idempotent(2);
        io.warmUp(0);
        AtomicInteger callbacks = new AtomicInteger();
        List<RecordFuture> futures = new ArrayList<>();
        for (int partition : new int[] {0, 0, 1}) {
            futures.add(io.send(partition, (metadata, error) -> callbacks.incrementAndGet()));
        }
        FaultyShare share = new FaultyShare();
        share.failuresToThrow = 2;
        IoThread thread = io.thread(share);
        thread.runOnce();
        assertThat(io.brokers.pending()).isNotEmpty();
        AtomicInteger errandEnds = new AtomicInteger();
        thread.add(new IoTask() {
            @Override
            public long runIfDue(long nowMs) {
                return Long.MAX_VALUE;
            }

            @Override
            public void onEnd(RuntimeException reason) {
                if (errandEnds.incrementAndGet() < 3) {
                    throw new InternalError("thrown on purpose");
                }
            }
        });

        // when
        io.accumulator.close();
        thread.end(new KafkaException("The end"));

        // then
        assertThat(futures).allMatch(RecordFuture::isDone);
        assertThat(callbacks).hasValue(3);
        assertThat(errandEnds).hasValue(3);
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }

    @Test
    void shouldFailEveryRecordBeforeItThrowsWhenTheThreadCannotBeStarted() throws Exception {
        ScriptedIo io = ScriptedIo.lingering(1, 5_000);
        RecordFuture future = io.send(0);

        startWithout(0, io.threads());

        assertThat(future).isDone();
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }

    @Test
    @Timeout(60)
    void shouldEndThoseThatWereStartedWhenAnotherCannotBeStarted() throws Exception {
        for (int unstartable = 1; unstartable < 4; unstartable++) {
            startWithout(unstartable, ScriptedIo.lingering(1, 5_000).threads(4));
        }
    }

    /** A thread that ends needs its own monitor, to wake those that join it. */
    @Test
    void shouldAwaitTheThreadsThemselves() throws Exception {
        IoThreads threads = ScriptedIo.lingering(1, 5_000).threads();
        List<Thread> started = new ArrayList<>();
        threads.start("ends", () -> {}, thread -> {
            started.add(thread);
            thread.start();
        });
        Thread thread = started.get(0);

        synchronized (thread) { // join lets go of it
            threads.forceShutdown();

            assertThat(threads.await(30_000)).isTrue();
            assertThat(thread.isAlive()).isFalse();
        }
    }

    /** Expects that all threads have ended, and {@code onEnd} has run, when it throws. */
    private static void startWithout(int unstartable, IoThreads threads) throws InterruptedException {
        OutOfMemoryError error = new OutOfMemoryError("unable to create native thread, on purpose");
        List<Thread> started = new ArrayList<>();
        AtomicInteger ends = new AtomicInteger();

        assertThatThrownBy(() -> threads.start("starts", ends::incrementAndGet, thread -> {
                    if (started.size() == unstartable) {
                        throw error;
                    }
                    started.add(thread);
                    thread.start();
                }))
                .isSameAs(error);

        assertThat(ends).hasValue(1);
        assertThat(threads.await(0)).isTrue();
        for (Thread thread : started) {
            thread.join();
        }
    }

    @Test
    @Timeout(60)
    void shouldNotWaitForARecordWhenTheTimeIsNegative() {
        RecordFuture future = ScriptedIo.lingering(1, 5_000).send(0);

        for (TimeUnit unit : TimeUnit.values()) {
            assertThatThrownBy(() -> future.get(Long.MIN_VALUE, unit)).isInstanceOf(TimeoutException.class);
        }
    }

    /** Neither this nor the exception thrown by its message can be logged. */
    private static final class Unloggable extends Error {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw this;
        }
    }
}
