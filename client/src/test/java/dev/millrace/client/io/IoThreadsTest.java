package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.RecordFuture;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;

/** The life and death of the threads themselves. */
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
        thread.add(new Errand() {
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

    /** Neither it nor what its own message throws has a message to log. */
    private static final class Unloggable extends Error {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw this;
        }
    }
}
