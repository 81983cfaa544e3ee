package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.SourceBatch;
import dev.millrace.kafka.common.record.internal.CompressionType;
import dev.millrace.kafka.common.record.internal.MemoryRecords;
import dev.millrace.kafka.common.record.internal.MutableRecordBatch;
import dev.millrace.kafka.common.record.internal.Record;
import dev.millrace.kafka.common.record.internal.RecordBatch;
import dev.millrace.kafka.common.record.internal.SimpleRecord;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole batches and encoded records in a partition's queue. */
class PassedBatchTest {
    private static final List<BatchCodec> CODECS = SourceBatch.codecs();
    private static final int BATCH_SIZE = 1_000;

    private final TestAccumulator parts = new TestAccumulator(1 << 20, BATCH_SIZE);
    private final PartitionQueue queue = parts.accumulator.queue("t", 0, 0);

    @ParameterizedTest
    @EnumSource
    void shouldKeepEveryRecordAndAValidChecksumWhateverTheCodec(CompressionType codec) throws Exception {
        Random random = Seed.random("PassedBatchTest/" + codec);
        for (int i = 0; i < 200; i++) {
            List<TestRecord> records = randomRecords(random, 1 + random.nextInt(30));
            ByteBuffer source = source(codec, records);
            ByteBuffer given = random.nextBoolean() ? source : direct(source);

            RawCheck passed = new RawCheck(queue.pass(given, CODECS, 0));

            assertThat(given.remaining()).as("left as it was").isEqualTo(source.remaining());
            FinishedBatch batch = take();
            batch.stamp(random.nextLong(), (short) random.nextInt(), random.nextInt());
            assertThat(batch.count()).isEqualTo(records.size());
            assertSame(records, ReadBack.records(batch));
            assertThat(ReadBack.batch(batch).compressionType()).isEqualTo(codec);
            complete(batch, null);
            passed.assertDone(null);
        }
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    @Test
    void shouldWriteAnewWhatBelongsToItsFormerPlace() throws Exception {
        queue.pass(source(CompressionType.LZ4, List.of(TestRecord.ofValue("a"))), CODECS, 0);
        FinishedBatch batch = take();

        batch.stamp(42, (short) 3, 17);

        MutableRecordBatch read = ReadBack.batch(batch);
        assertThat(read.producerId()).isEqualTo(42);
        assertThat(read.producerEpoch()).isEqualTo((short) 3);
        assertThat(read.baseSequence()).isEqualTo(17);
        assertThat(read.baseOffset()).isZero();
        assertThat(read.partitionLeaderEpoch()).isEqualTo(RecordBatch.NO_PARTITION_LEADER_EPOCH);
        assertThat(read.isTransactional()).isFalse();
    }

    /** Or corruption would be hidden behind a checksum of what is corrupt. */
    @Test
    void shouldHaveAWrongChecksumWhenAnyByteWasWrongBefore() throws Exception {
        Random random = Seed.random("PassedBatchTest/corrupt");
        for (int i = 0; i < 500; i++) {
            CompressionType codec = CompressionType.forId(random.nextInt(5));
            ByteBuffer source = source(codec, randomRecords(random, 20));
            int at = SourceBatch.CHECKED_AT + random.nextInt(source.limit() - SourceBatch.CHECKED_AT);
            source.put(at, (byte) (source.get(at) ^ 1 << random.nextInt(8)));
            try {
                queue.pass(source, CODECS, 0);
            } catch (IllegalArgumentException e) {
                continue; // a field that must have another value
            }
            FinishedBatch batch = take();

            batch.stamp(42, (short) 3, 17);

            assertThat(read(batch).isValid())
                    .as("a wrong bit at %d, codec %s", at, codec)
                    .isFalse();
            batch.release();
        }
    }

    @Test
    void shouldRefuseWhatCannotBePassedAndSayWhy() throws Exception {
        assertRefused("format 2 is needed, not format 1", batch -> batch.put(16, (byte) 1));
        assertRefused("format 2 is needed, not only 16 bytes", batch -> batch.limit(16));
        assertRefused("at least 61 are needed", batch -> batch.limit(60));
        assertRefused("were given", batch -> batch.limit(batch.limit() - 1));
        assertRefused("were given", batch -> batch.putInt(8, Integer.MAX_VALUE));
        assertRefused("were given", batch -> batch.putInt(8, -1));
        assertRefused("it has 0 records", batch -> batch.putInt(23, -1).putInt(57, 0));
        assertRefused("it has -3 records", batch -> batch.putInt(23, -4).putInt(57, -3));
        assertRefused("end at 7 and it has 3 records", batch -> batch.putInt(23, 7));
        assertRefused("control batch", batch -> batch.putShort(21, (short) 0x30));
        assertRefused("LogAppendTime", batch -> batch.putShort(21, (short) 0x08));
        assertRefused("delete horizon", batch -> batch.putShort(21, (short) 0x41));
        assertRefused("attributes are 8000", batch -> batch.putShort(21, (short) 0x8000));
        assertRefused("its codec is 5", batch -> batch.putShort(21, (short) 5));
    }

    private void assertRefused(String why, Consumer<ByteBuffer> change) throws InterruptedException {
        ByteBuffer source = source(
                CompressionType.NONE,
                List.of(TestRecord.ofValue("a"), TestRecord.ofValue("b"), TestRecord.ofValue("c")));
        change.accept(source);

        assertThatThrownBy(() -> queue.pass(source, CODECS, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
        assertThat(queue.hasRecords()).isFalse();
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    @Test
    void shouldKeepTheOrderOfCallsWhenRecordsAndBatchesAreMixed() throws Exception {
        Random random = Seed.random("PassedBatchTest/order");
        for (int round = 0; round < 50; round++) {
            List<String> put = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                int kind = random.nextInt(3);
                int count = kind == 0 ? 1 + random.nextInt(20) : 1;
                List<TestRecord> records = new ArrayList<>();
                for (int r = 0; r < count; r++) {
                    String value = "value " + put.size();
                    put.add(value);
                    records.add(TestRecord.ofValue(value));
                }
                if (kind == 0) {
                    queue.pass(source(CompressionType.ZSTD, records), CODECS, 0);
                } else if (kind == 1) {
                    append(records.get(0));
                } else {
                    assertThat(queue.append(records.get(0).encodable(), null, 0))
                            .isNotNull();
                }
            }
            queue.sealOldest(SealCause.FLUSH); // or the last one may still be open

            List<String> taken = new ArrayList<>();
            while (queue.hasRecords()) {
                queue.sealOldest(SealCause.FLUSH);
                FinishedBatch batch = take();
                batch.stamp(1, (short) 0, 0);
                taken.addAll(ReadBack.values(batch));
                complete(batch, null);
            }
            assertThat(taken).isEqualTo(put);
        }
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
        assertThat(parts.pool.partitionsInUse()).isZero();
    }

    @Test
    void shouldTakeEncodedRecordsAsSendWouldHaveWrittenThem() throws Exception {
        Random random = Seed.random("PassedBatchTest/append");
        for (int i = 0; i < 300; i++) {
            List<TestRecord> records = randomRecords(random, 1 + random.nextInt(10));
            List<BatchResult> results = new ArrayList<>();
            for (TestRecord record : records) {
                results.add(append(record));
            }

            List<Record> read = new ArrayList<>();
            long latest = Long.MIN_VALUE;
            while (queue.hasRecords()) {
                queue.sealOldest(SealCause.FLUSH);
                FinishedBatch batch = take();
                batch.stamp(1, (short) 0, 0);
                for (Record record : ReadBack.records(batch)) {
                    read.add(record);
                    latest = Math.max(latest, record.timestamp());
                }
                assertThat(ReadBack.batch(batch).maxTimestamp()).isLessThanOrEqualTo(latest);
                assertThat(batch.maxRecordSize()).isPositive();
                complete(batch, null);
            }
            assertSame(records, read);
            assertThat(results).allMatch(BatchResult::isDone);
        }
    }

    @Test
    void shouldGiveAllRecordsOfABatchTheSameResult() throws Exception {
        TestRecord record = TestRecord.ofSize(10);
        BatchResult first = append(record);
        BatchResult second = append(record);
        BatchResult passed = queue.pass(source(CompressionType.NONE, List.of(record)), CODECS, 0);
        BatchResult third = append(record);

        assertThat(second).isSameAs(first);
        assertThat(List.of(first, passed, third)).doesNotHaveDuplicates();
        assertThatThrownBy(first::failureOrNull).isInstanceOf(IllegalStateException.class);
        KafkaException refused = new KafkaException("refused");
        complete(take(), null);
        complete(take(), refused);
        new RawCheck(first).assertDone(null);
        new RawCheck(passed).assertDone(refused);
        assertThat(third.isDone()).isFalse();
    }

    @Test
    void shouldCountItsAgeFromThePass() throws Exception {
        parts.clockMs.addAndGet(500);
        queue.pass(source(CompressionType.NONE, List.of(TestRecord.ofValue("a"))), CODECS, 0);

        assertThat(queue.oldestCreatedMs()).isEqualTo(parts.clockMs.get());
        assertThat(queue.isOldestOpen()).isFalse();
        assertThat(parts.ready.poll()).as("handed over").isSameAs(queue);
    }

    @Test
    void shouldPassBatchesLargerThanBatchSizeAndReuseTheirMemory() throws Exception {
        ByteBuffer large = source(CompressionType.NONE, List.of(TestRecord.ofSize(3 * BATCH_SIZE)));

        queue.pass(large, CODECS, 0);
        FinishedBatch batch = take();
        byte[] memory = batch.buffer();
        complete(batch, null);
        queue.pass(large, CODECS, 0);

        assertThat(take().buffer()).isSameAs(memory);
    }

    @Test
    void shouldFailAfterMaxBlockWhenNoMemoryIsFree() throws Exception {
        TestAccumulator small = new TestAccumulator(2 * BATCH_SIZE, BATCH_SIZE);
        PartitionQueue first = small.accumulator.queue("t", 0, 0);
        ByteBuffer large = source(CompressionType.NONE, List.of(TestRecord.ofSize(BATCH_SIZE + 100)));
        first.pass(large, CODECS, 0);

        assertThatThrownBy(() -> first.pass(large, CODECS, 1)).isInstanceOf(BufferExhaustedException.class);

        take(first).release();
        assertThat(first.pass(large, CODECS, 0)).isNotNull();
    }

    @Test
    void shouldTakeNothingWhenClosed() throws Exception {
        queue.pass(source(CompressionType.NONE, List.of(TestRecord.ofValue("a"))), CODECS, 0);
        parts.accumulator.close();

        assertThat(queue.pass(source(CompressionType.NONE, List.of(TestRecord.ofValue("b"))), CODECS, 0))
                .isNull();
        assertThat(append(TestRecord.ofValue("c"))).isNull();

        FinishedBatch batch = take();
        batch.stamp(1, (short) 0, 0);
        assertThat(ReadBack.values(batch)).containsExactly("a");
        complete(batch, null);
        assertThat(queue.hasRecords()).isFalse();
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    @Test
    void shouldBeWaitedForByFlush() throws Exception {
        queue.pass(source(CompressionType.NONE, List.of(TestRecord.ofValue("a"))), CODECS, 0);
        FinishedBatch batch = take();
        AtomicBoolean flushed = new AtomicBoolean();
        Workers flusher = new Workers()
                .add(1, () -> {
                    parts.accumulator.flush();
                    flushed.set(true);
                })
                .start();
        Workers.until("flush() waits", () -> flusher.thread(0).getState() == Thread.State.WAITING);
        assertThat(flushed).isFalse();

        complete(batch, null);

        flusher.join();
        assertThat(flushed).isTrue();
    }

    // ---- too large for the broker ----

    @ParameterizedTest
    @EnumSource
    void shouldCompressItsPartsWithItsOwnCodecWhenSplitAgainAndAgain(CompressionType codec) throws Exception {
        List<TestRecord> records = IntStream.range(0, 64)
                .mapToObj(i -> TestRecord.ofValue(i + "x".repeat(200)))
                .toList();
        RawCheck passed = new RawCheck(queue.pass(source(codec, records), CODECS, 0));
        List<FinishedBatch> quarters = new ArrayList<>();
        for (FinishedBatch half : split(take())) {
            quarters.addAll(half.count() > 1 ? split(half) : List.of(half));
        }

        List<Record> read = new ArrayList<>();
        for (FinishedBatch quarter : quarters) {
            quarter.stamp(1, (short) 0, 0);
            assertThat(ReadBack.batch(quarter).compressionType()).isEqualTo(codec);
            read.addAll(ReadBack.records(quarter));
            assertThat(passed.result.isDone()).isFalse();
            complete(quarter, null);
        }

        assertThat(quarters).hasSizeGreaterThan(3);
        assertSame(records, read);
        passed.assertDone(null);
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    @Test
    void shouldTellTheFirstFailureAmongItsParts() throws Exception {
        RawCheck passed =
                new RawCheck(queue.pass(source(CompressionType.GZIP, randomRecords(new Random(1), 50)), CODECS, 0));
        List<FinishedBatch> halves = split(take());
        KafkaException refused = new KafkaException("refused");

        complete(halves.get(0), null);
        halves.subList(1, halves.size()).forEach(part -> complete(part, refused));

        passed.assertDone(refused);
    }

    @ParameterizedTest
    @EnumSource
    void shouldStayWholeWhenItIsCorruptAndShallBeSplit(CompressionType codec) throws Exception {
        ByteBuffer source = source(codec, randomRecords(new Random(1), 50));
        int last = source.limit() - 1;
        source.put(last, (byte) (source.get(last) ^ 1));
        RawCheck passed = new RawCheck(queue.pass(source, CODECS, 0));
        FinishedBatch batch = take();

        assertThatThrownBy(() -> split(batch))
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageContaining("checksum");

        complete(batch, null);
        passed.assertDone(null);
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    /** A checksum over nonsense: the batch was made that way. */
    @Test
    void shouldStayWholeWhenItsRecordsAreNoneAndItShallBeSplit() throws Exception {
        Random random = Seed.random("PassedBatchTest/nonsense");
        for (int i = 0; i < 200; i++) {
            ByteBuffer source = source(CompressionType.forId(random.nextInt(5)), randomRecords(random, 20));
            for (int at = SourceBatch.RECORDS_AT; at < source.limit(); at++) {
                source.put(at, (byte) random.nextInt());
            }
            CRC32C crc = new CRC32C();
            crc.update(source.slice(SourceBatch.CHECKED_AT, source.limit() - SourceBatch.CHECKED_AT));
            source.putInt(17, (int) crc.getValue());
            queue.pass(source, CODECS, 0);
            FinishedBatch batch = take();

            assertThatThrownBy(() -> split(batch))
                    .isInstanceOf(CorruptRecordException.class)
                    .hasMessageContaining("cannot be split");
            complete(batch, null);
        }
        assertThat(parts.pool.available()).isEqualTo(parts.pool.total());
    }

    // ---- helpers ----

    /** What a user of the result sees. */
    private record RawCheck(BatchResult result) {
        void assertDone(KafkaException failure) {
            assertThat(result.isDone()).isTrue();
            assertThat(result.failureOrNull()).isSameAs(failure);
        }
    }

    private BatchResult append(TestRecord record) throws InterruptedException {
        byte[] encoded = content(record);
        byte[] inTheMiddle = new byte[encoded.length + 20];
        System.arraycopy(encoded, 0, inTheMiddle, 7, encoded.length);
        return queue.append(record.timestamp(), inTheMiddle, 7, encoded.length, 0);
    }

    /** A record's bytes from the length of its key on. */
    static byte[] content(TestRecord record) {
        EncodableRecord encodable = record.encodable();
        byte[] all = new byte[RecordEncoder.batchSizeUpperBound(encodable)];
        int end = RecordEncoder.write(all, 0, 0, 0, encodable);
        byte[] content = new byte[(int) RecordEncoder.contentSize(encodable)];
        System.arraycopy(all, end - content.length, content, 0, content.length);
        return content;
    }

    static ByteBuffer source(CompressionType codec, List<TestRecord> records) {
        return SourceBatch.of(
                codec,
                records.stream()
                        .map(r -> new SimpleRecord(r.timestamp(), r.keyBuffer(), r.valueBuffer(), r.headers()))
                        .toList());
    }

    private static ByteBuffer direct(ByteBuffer source) {
        return ByteBuffer.allocateDirect(source.remaining())
                .put(source.duplicate())
                .flip()
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    private FinishedBatch take() {
        return take(queue);
    }

    private static FinishedBatch take(PartitionQueue queue) {
        FinishedBatch batch = queue.peek();
        queue.take();
        return batch;
    }

    private static RecordBatch read(FinishedBatch batch) {
        return MemoryRecords.readableRecords(ByteBuffer.wrap(batch.buffer(), 0, batch.size()))
                .batches()
                .iterator()
                .next();
    }

    private static List<FinishedBatch> split(FinishedBatch whole) {
        List<FinishedBatch> halves = new ArrayList<>();
        whole.splitIntoParts(halves::addAll);
        return halves;
    }

    private static void complete(FinishedBatch batch, KafkaException error) {
        batch.decide(error == null ? 0 : -1, -1, error);
        batch.release();
        batch.deliver();
    }

    private static List<TestRecord> randomRecords(Random random, int count) {
        List<TestRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            TestRecord record = TestRecord.random(random, 100);
            byte[] value = ("value " + i).getBytes(StandardCharsets.UTF_8);
            records.add(random.nextInt(4) > 0 ? record : new TestRecord(i, record.key(), value, record.headers()));
        }
        return records;
    }

    private static void assertSame(List<TestRecord> written, List<Record> read) {
        assertThat(read).hasSameSizeAs(written);
        for (int i = 0; i < read.size(); i++) {
            written.get(i).assertReadBackAs(read.get(i));
        }
    }
}
