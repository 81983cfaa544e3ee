package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.raw.BatchLayout;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.MutableRecordBatch;
import dev.millrace.kafka.common.record.internal.Record;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;

/** One batch, one thread. What many threads do to it is in {@link OpenBatchStressTest}. */
class OpenBatchTest {
    private final TestAccumulator parts = new TestAccumulator(1 << 20, 1_024);

    @Test
    void shouldGiveBackEveryPartOfItsRecordsWhenKafkaReadsIt() {
        var random = Seed.random("OpenBatchTest");
        for (int i = 0; i < 300; i++) {
            List<TestRecord> written = new ArrayList<>();
            OpenBatch batch =
                    parts.openBatch(2_000, TestRecord.random(random, 100).timestamp());
            for (TestRecord record = TestRecord.random(random, 100);
                    batch.tryAppend(record.encodable(), null) != null;
                    record = TestRecord.random(random, 100)) {
                written.add(record);
            }

            FinishedBatch finished = finishedAndStamped(batch);

            List<Record> read = ReadBack.records(finished);
            assertThat(read).hasSameSizeAs(written);
            for (int r = 0; r < read.size(); r++) {
                written.get(r).assertReadBackAs(read.get(r));
                assertThat(read.get(r).offset()).isEqualTo(r);
            }
        }
    }

    @Test
    void shouldKeepTheLatestTimestampWhenLaterRecordsAreOlder() {
        OpenBatch batch = parts.openBatch(500, 1_000);
        add(batch, at(1_000), null);
        add(batch, at(7_000), null);
        add(batch, at(0), null);
        batch.seal();

        MutableRecordBatch read = ReadBack.batch(finishedAndStamped(batch));

        assertThat(read.maxTimestamp()).isEqualTo(7_000);
        assertThat(read).extracting(Record::timestamp).containsExactly(1_000L, 7_000L, 0L);
    }

    @Test
    void shouldTakeTheRecordWhenItFitsToTheLastByte() {
        EncodableRecord record = TestRecord.ofSize(100).encodable();
        int size = RecordEncoder.write(new byte[200], 0, 0, 0, record);
        OpenBatch batch = parts.openBatch(BatchLayout.HEADER_SIZE + size, 1_000);

        RecordFuture future = batch.tryAppend(record, null);

        assertThat(future).isNotNull();
        assertThat(batch.isSealed()).isFalse();
        assertThat(batch.tryAppend(TestRecord.ofSize(0).encodable(), null)).isNull();
        assertThat(finishedAndStamped(batch).size()).isEqualTo(BatchLayout.HEADER_SIZE + size);
    }

    @Test
    void shouldSealItselfWhenTheRecordIsOneByteTooLong() {
        EncodableRecord record = TestRecord.ofSize(100).encodable();
        int size = RecordEncoder.write(new byte[200], 0, 0, 0, record);
        OpenBatch batch = parts.openBatch(BatchLayout.HEADER_SIZE + size - 1, 1_000);

        RecordFuture future = batch.tryAppend(record, null);

        assertThat(future).isNull();
        assertThat(batch.isSealed()).isTrue();
    }

    /** Only its length is looked at, so the record need not exist. */
    @Test
    void shouldSealItselfWhenTheEndOfTheRecordIsBeyondAnInt() {
        for (int length = Integer.MAX_VALUE - 20; length > 0; length++) {
            OpenBatch batch = parts.openBatch(500, 1_000);
            add(batch, TestRecord.ofValue("in"), null);

            BatchResult result = batch.tryAppend(1_000, new byte[0], 0, length);

            assertThat(result).isNull();
            assertThat(ReadBack.values(finishedAndStamped(batch))).containsExactly("in");
        }
    }

    @Test
    void shouldTakeNoRecordWhenSealed() {
        OpenBatch batch = parts.openBatch(500, 1_000);
        add(batch, TestRecord.ofValue("in"), null);
        batch.seal();

        RecordFuture late = batch.tryAppend(TestRecord.ofValue("late").encodable(), null);

        assertThat(late).isNull();
        assertThat(ReadBack.values(finishedAndStamped(batch))).containsExactly("in");
    }

    @Test
    void shouldFinishOnceWhenSealedAgainAndAgain() {
        OpenBatch batch = parts.openBatch(500, 1_000);
        add(batch, TestRecord.ofValue("one"), null);
        assertThat(batch.finished()).isNull();

        batch.seal();
        batch.seal();

        assertThat(batch.finished()).isNotNull();
        assertThat(parts.ready.poll()).isNotNull();
        assertThat(parts.ready.poll()).isNull();
    }

    @Test
    void shouldSealItselfWhenItHoldsAsManyRecordsAsItCanCount() {
        EncodableRecord smallest = new TestRecord(1_000, null, null, TestRecord.NO_HEADERS).encodable();
        OpenBatch batch = parts.openBatch(100 << 20, 1_000);
        int taken = 0;
        while (batch.tryAppend(smallest, null) != null) {
            taken++;
        }

        FinishedBatch finished = finishedAndStamped(batch);

        assertThat(taken).isEqualTo(BatchTail.MAX_RECORDS).isEqualTo(8_388_607);
        assertThat(finished.count()).isEqualTo(BatchTail.MAX_RECORDS);
        assertThat(ReadBack.batch(finished).lastOffset()).isEqualTo(BatchTail.MAX_RECORDS - 1);
    }

    @Test
    void shouldRunCallbacksByIndexBeforeFuturesCompleteWhenDelivered() throws Exception {
        List<Long> offsets = new ArrayList<>();
        List<Boolean> doneInCallback = new ArrayList<>();
        RecordFuture[] first = new RecordFuture[1];
        Callback callback = (metadata, error) -> {
            offsets.add(metadata.offset());
            doneInCallback.add(first[0].isDone());
        };
        OpenBatch batch = parts.openBatch(20_000, 1_000);
        first[0] = batch.tryAppend(TestRecord.ofValue("0").encodable(), callback);
        for (int i = 1; i < 400; i++) { // more than one segment of slots, and whole segments without a callback
            boolean withCallback = i % 3 == 0 && (i < 100 || i > 300);
            add(batch, TestRecord.ofValue("" + i), withCallback ? callback : null);
        }
        batch.seal();
        FinishedBatch finished = batch.finished();

        finished.decide(5_000, -1, null);
        finished.deliver();

        assertThat(offsets).isSorted().hasSize(67).startsWith(5_000L, 5_003L).endsWith(5_399L);
        assertThat(doneInCallback).containsOnly(false);
        assertThat(first[0].get().offset()).isEqualTo(5_000);
    }

    @Test
    void shouldRunTheOtherCallbacksWhenOneThrowsAnError() {
        List<Long> offsets = new ArrayList<>();
        Callback throwing = (metadata, error) -> {
            throw new AssertionError("planted");
        };
        OpenBatch batch = parts.openBatch(500, 1_000);
        RecordFuture future = batch.tryAppend(TestRecord.ofValue("0").encodable(), throwing);
        add(batch, TestRecord.ofValue("1"), (metadata, error) -> offsets.add(metadata.offset()));
        batch.seal();

        batch.finished().decide(10, -1, null);
        batch.finished().deliver();

        assertThat(offsets).containsExactly(11L);
        assertThat(future.isDone()).isTrue();
    }

    @Test
    void shouldTellWhatTheFirstDecisionSaidWhenThereAreTwo() throws Exception {
        OpenBatch batch = parts.openBatch(500, 1_000);
        RecordFuture future = batch.tryAppend(TestRecord.ofValue("0").encodable(), null);
        batch.seal();

        batch.finished().decide(10, 123, null);
        batch.finished().decide(-1, -1, new KafkaException("too late"));
        batch.finished().deliver();

        RecordMetadata metadata = future.get();
        assertThat(metadata.offset()).isEqualTo(10);
        assertThat(metadata.timestamp()).as("log append time").isEqualTo(123);
        assertThat(metadata.serializedKeySize()).isEqualTo(-1);
        assertThat(metadata.serializedValueSize()).isEqualTo(1);
    }

    @Test
    void shouldFailWholeWhenAWriterThrewBetweenClaimAndCommit() throws Exception {
        OpenBatch batch = parts.openBatch(500, 1_000);
        List<RecordMetadata> told = new ArrayList<>();
        Callback callback = (metadata, error) -> told.add(metadata);
        RecordFuture before = batch.tryAppend(TestRecord.ofValue("before").encodable(), callback);
        breakCallbacks(batch); // stands for an OutOfMemoryError

        assertThatThrownBy(() -> batch.tryAppend(TestRecord.ofValue("hole").encodable(), callback))
                .isInstanceOf(NullPointerException.class);
        RecordFuture after = batch.tryAppend(TestRecord.ofValue("after").encodable(), null);
        batch.seal();

        FinishedBatch finished = batch.finished();
        assertThat(finished.failure())
                .isInstanceOf(KafkaException.class)
                .hasCauseInstanceOf(NullPointerException.class);
        assertThat(finished.count()).as("the hole is counted too").isEqualTo(3);
        finished.decide(-1, -1, finished.failure());
        finished.deliver();
        for (RecordFuture future : List.of(before, after)) {
            assertThatThrownBy(future::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCause(finished.failure());
        }
        assertThat(told).hasSize(1);
        assertThat(told.get(0).offset()).isEqualTo(-1);
    }

    @Test
    void shouldRunTheOtherCallbacksAndCompleteTheFuturesWhenWhatOneThrewCannotBeLogged() {
        // given
        OpenBatch batch = parts.openBatch(500, 1_000);
        List<String> told = new ArrayList<>();
        RecordFuture first = batch.tryAppend(TestRecord.ofValue("0").encodable(), (metadata, error) -> {
            told.add("first");
            throw new Unloggable();
        });
        RecordFuture second =
                batch.tryAppend(TestRecord.ofValue("1").encodable(), (metadata, error) -> told.add("second"));
        batch.seal();

        // when
        batch.finished().decide(10, -1, null);
        batch.finished().deliver();

        // then
        assertThat(told).containsExactly("first", "second");
        assertThat(first.isDone()).isTrue();
        assertThat(second.isDone()).isTrue();
    }

    /** Logging the first Error throws another Error. */
    private static final class Unloggable extends IllegalStateException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new StackOverflowError("thrown by getMessage() on purpose");
        }
    }

    @Test
    void shouldTellEachCallbackOnceWhenThereWasNoMemoryForWhatOneIsTold() {
        // given
        OpenBatch batch = parts.openBatch(500, 1_000);
        List<String> told = new ArrayList<>();
        RecordFuture first =
                batch.tryAppend(TestRecord.ofValue("0").encodable(), (metadata, error) -> told.add("first"));
        batch.tryAppend(TestRecord.ofValue("1").encodable(), (metadata, error) -> told.add("second"));
        batch.seal();
        AtomicInteger looks = new AtomicInteger();
        batch.finished().decideFailed(new KafkaException("refused"), new HashMap<Integer, RuntimeException>() {
            private static final long serialVersionUID = 1;

            @Override
            public boolean isEmpty() {
                return false;
            }

            @Override
            public RuntimeException get(Object index) {
                if (index.equals(1) && looks.getAndIncrement() == 0) {
                    throw new InternalError("thrown on purpose");
                }
                return super.get(index);
            }
        });

        // when
        assertThatThrownBy(batch.finished()::deliver).isInstanceOf(InternalError.class);
        assertThat(batch.finished().isDelivered()).isFalse();
        assertThat(first.isDone()).isFalse();
        batch.finished().deliver();

        // then
        assertThat(told).containsExactly("first", "second");
        assertThat(first.isDone()).isTrue();
        assertThat(batch.finished().isDelivered()).isTrue();
    }

    /** A claim without a commit would keep the batch from finishing. */
    @Test
    void shouldGoOnWhenThereIsNoMemoryToCountALostRace() throws Exception {
        AppendCounters counters = new AppendCounters();
        Field claimsLost = AppendCounters.class.getDeclaredField("claimsLost");
        claimsLost.setAccessible(true);
        claimsLost.set(counters, new LongAdder() {
            private static final long serialVersionUID = 1;

            @Override
            public void add(long count) {
                throw new OutOfMemoryError("thrown on purpose");
            }
        });

        assertThatCode(() -> counters.countLostClaims(1)).doesNotThrowAnyException();
    }

    @Test
    void shouldFailWholeWhenTheCodecThrowsAnError() {
        TestAccumulator broken = new TestAccumulator(1 << 20, 1_024, new BatchCodec() {
            @Override
            public int id() {
                return 4;
            }

            @Override
            public int compress(byte[] batch, int from, int to) {
                throw new NoClassDefFoundError("planted: no native library");
            }

            @Override
            public byte[] decompress(byte[] batch, int from, int to) {
                throw new AssertionError("nothing was compressed");
            }
        });
        OpenBatch batch = broken.openBatch(500, 1_000);
        add(batch, TestRecord.ofValue("0"), null);

        batch.seal();

        assertThat(batch.finished().failure()).hasCauseInstanceOf(NoClassDefFoundError.class);
        assertThat(batch.finished().count()).isEqualTo(1);
        assertThat(broken.ready.poll()).as("it is handed over to be failed").isNotNull();
    }

    @Test
    void shouldBeReadByKafkaWhenCompressed() {
        TestAccumulator gzip = new TestAccumulator(1 << 20, 1_024, new GzipCodec());
        OpenBatch batch = gzip.openBatch(5_000, 1_000);
        List<TestRecord> written = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            written.add(TestRecord.ofSize(50));
            add(batch, written.get(i), null);
        }
        batch.seal();

        FinishedBatch finished = finishedAndStamped(batch);

        assertThat(ReadBack.batch(finished).compressionType()).isEqualTo(CompressionType.GZIP);
        assertThat(finished.size()).isLessThan(1_000);
        List<Record> read = ReadBack.records(finished);
        assertThat(read).hasSize(50);
        for (int i = 0; i < 50; i++) {
            written.get(i).assertReadBackAs(read.get(i));
        }
    }

    @Test
    void shouldBeSentAsItIsWhenCompressionGainsNothing() {
        TestAccumulator gzip = new TestAccumulator(1 << 20, 1_024, new GzipCodec());
        OpenBatch batch = gzip.openBatch(500, 1_000);
        add(batch, TestRecord.ofValue("short"), null);
        batch.seal();

        FinishedBatch finished = finishedAndStamped(batch);

        assertThat(ReadBack.batch(finished).compressionType()).isEqualTo(CompressionType.NONE);
        assertThat(ReadBack.values(finished)).containsExactly("short");
    }

    @Test
    void shouldRefuseToGiveBackMemoryWhenInFlight() {
        OpenBatch batch = parts.openBatch(500, 1_000);
        add(batch, TestRecord.ofValue("0"), null);
        batch.seal();
        FinishedBatch finished = finishedAndStamped(batch);
        finished.markSent(0);

        assertThatThrownBy(finished::release).isInstanceOf(IllegalStateException.class);

        assertThat(finished.buffer()).isNotNull();
        assertThat(finished.attempts()).isEqualTo(1);
    }

    private static TestRecord at(long timestamp) {
        return new TestRecord(timestamp, null, new byte[] {1}, TestRecord.NO_HEADERS);
    }

    private static void add(OpenBatch batch, TestRecord record, Callback callback) {
        assertThat(batch.tryAppend(record.encodable(), callback)).isNotNull();
    }

    private static FinishedBatch finishedAndStamped(OpenBatch batch) {
        FinishedBatch finished = batch.finished();
        assertThat(finished.isUnwritable()).isFalse();
        finished.stamp(-1, (short) -1, -1);
        return finished;
    }

    /** Makes the next record with a callback throw after its claim. */
    private static void breakCallbacks(OpenBatch batch) throws ReflectiveOperationException {
        Field slots = OpenBatch.class.getDeclaredField("callbacks");
        slots.setAccessible(true);
        slots.set(batch, null);
    }
}
