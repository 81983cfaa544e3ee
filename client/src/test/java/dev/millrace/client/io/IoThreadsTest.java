package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.RecordFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
}
