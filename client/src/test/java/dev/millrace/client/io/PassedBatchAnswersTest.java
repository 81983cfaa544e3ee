package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.raw.RawResult;
import dev.millrace.client.support.SourceBatch;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.SimpleRecord;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

/** What becomes of a passed batch, whatever the broker answers; its memory comes back each time. */
class PassedBatchAnswersTest {
    private static final List<BatchCodec> CODECS = SourceBatch.codecs();

    private final ScriptedIo io = ScriptedIo.idempotent(1);

    @Test
    void shouldSendItWithTheNextSequencesAndTellItsResult() throws Exception {
        io.warmUp(0);
        io.send(0);
        RawResult passed = pass(3);
        io.send(0);
        io.run();

        assertThat(io.brokers.pending())
                .extracting(request -> request.batches.get(0).toString())
                .containsExactly("0:0:1", "0:0:2", "0:0:5");
        assertThat(passed.isDone()).isFalse();
        acceptAll();
        assertThat(passed.failureOrNull()).isNull();
        assertMemoryReturned();
    }

    @Test
    void shouldSendItAgainWhenTheErrorCanPass() throws Exception {
        RawResult passed = pass(3);
        io.run();

        refuse(new NotEnoughReplicasException("on purpose"));
        io.passBackoff();

        assertThat(passed.isDone()).isFalse();
        acceptAll();
        assertThat(passed.failureOrNull()).isNull();
        assertMemoryReturned();
    }

    @Test
    void shouldFailItAtOnceWhenItIsCorruptAndGoOn() throws Exception {
        RawResult passed = pass(3);
        io.run();

        refuse(new CorruptRecordException("on purpose"));
        io.passBackoff();

        assertThat(passed.failureOrNull()).isInstanceOf(CorruptRecordException.class);
        assertThat(io.brokers.pending()).as("requests").isEmpty();
        assertMemoryReturned();
        RawResult next = pass(1);
        io.run();
        acceptAll();
        assertThat(next.failureOrNull()).isNull();
    }

    @Test
    void shouldStillSendAnOrdinaryBatchAgainWhenItArrivedCorrupt() throws Exception {
        var future = io.send(0);
        io.run();

        refuse(new CorruptRecordException("on purpose"));
        io.passBackoff();
        acceptAll();

        assertThat(future.get().hasOffset()).isTrue();
    }

    @Test
    void shouldFollowItsPartsWhenItIsTooLarge() throws Exception {
        RawResult passed = pass(8);
        io.run();

        refuse(new RecordTooLargeException("on purpose"));
        int parts = 0;
        for (io.run(); !io.brokers.pending().isEmpty(); io.run()) {
            assertThat(passed.isDone()).isFalse();
            io.brokers.pending().get(0).accept();
            parts++;
        }

        assertThat(parts).isGreaterThan(1);
        assertThat(passed.failureOrNull()).isNull();
        assertThat(passed.offsetOf(7) - passed.offsetOf(0)).as("over all parts").isEqualTo(7);
        assertMemoryReturned();
    }

    @Test
    void shouldExpireFromThePassOn() throws Exception {
        io.warmUp(0);
        io.brokers.reachable = false;
        io.passTime(5_000);
        RawResult passed = pass(3);
        io.passTime(ScriptedIo.DELIVERY_TIMEOUT_MS - 1);
        assertThat(passed.isDone()).isFalse();

        io.passTime(1);

        assertThat(passed.failureOrNull())
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining("Expiring 3 record(s)");
        assertMemoryReturned();
    }

    @Test
    void shouldFailWithTheRestWhenTheProducerFails() throws Exception {
        io.brokers.reachable = false;
        RawResult passed = pass(3);
        io.run();
        KafkaException end = new KafkaException("The end");

        io.drainer.failAll(Long.MAX_VALUE, end);

        assertThat(passed.failureOrNull()).isSameAs(end);
        assertMemoryReturned();
    }

    private RawResult pass(int count) throws InterruptedException {
        List<SimpleRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records.add(new SimpleRecord(i, null, new byte[100]));
        }
        return io.accumulator
                .queue(ScriptedIo.TOPIC, 0, 0)
                .pass(SourceBatch.of(CompressionType.NONE, records), CODECS, 0);
    }

    private void refuse(ApiException error) {
        assertThat(io.brokers.pending()).hasSize(1);
        io.brokers.pending().get(0).refuse(error);
    }

    private void acceptAll() {
        assertThat(io.brokers.pending()).isNotEmpty();
        io.brokers.pending().forEach(ScriptedBrokers.Request::accept);
        io.run();
    }

    private void assertMemoryReturned() {
        assertThat(io.pool.available()).isEqualTo(io.pool.total());
    }
}
