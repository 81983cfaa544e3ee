package dev.millrace.mirror.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.junit.jupiter.api.Test;

class SourceBatchTest {
    private static final int LENGTH_AT = 8;
    private static final int MAGIC_AT = 16;
    private static final int ATTRIBUTES_AT = 21;
    private static final int LAST_OFFSET_DELTA_AT = 23;
    private static final int COUNT_AT = 57;

    @Test
    void shouldReadWhatKafkaReadsWhenBatchesOfAllKindsFollowOneAnother() {
        ByteBuffer batches = BatchMaker.join(allKinds());
        SourceBatch batch = new SourceBatch();
        batch.wrap(batches);

        int count = 0;
        for (RecordBatch expected : MemoryRecords.readableRecords(batches).batches()) {
            assertThat(batch.moveToNext()).isTrue();
            assertSame(batch, expected);
            batch.checkIntegrity();
            count++;
        }

        assertThat(count).isEqualTo(allKinds().size());
        assertThat(batch.moveToNext()).isFalse();
    }

    private static List<ByteBuffer> allKinds() {
        List<ByteBuffer> batches = new ArrayList<>();
        for (CompressionType codec : CompressionType.values()) {
            batches.add(new BatchMaker(10).codec(codec).records(3).make());
        }
        batches.add(new BatchMaker(20).magic(0).records(1).make());
        batches.add(new BatchMaker(21)
                .magic(1)
                .codec(CompressionType.GZIP)
                .records(3)
                .make());
        batches.add(new BatchMaker(30).records(2).lastOffset(40).make());
        batches.add(BatchMaker.empty(41, 50, 5, true, false));
        batches.add(new BatchMaker(51).logAppendTime(99).records(2).make());
        batches.add(new BatchMaker(60).deleteHorizon(99).records(2).make());
        batches.add(new BatchMaker(70).producer(5, false).records(1).make());
        batches.add(new BatchMaker(71).producer(5, true).records(1).make());
        batches.add(BatchMaker.marker(72, 5, new EndTransactionMarker(ControlRecordType.COMMIT, 0)));
        return batches;
    }

    private static void assertSame(SourceBatch batch, RecordBatch expected) {
        boolean old = expected.magic() < RecordBatch.MAGIC_VALUE_V2;
        assertThat(batch.isOldFormat()).isEqualTo(old);
        assertThat(batch.baseOffset()).isEqualTo(old ? expected.lastOffset() : expected.baseOffset());
        assertThat(batch.lastOffset()).isEqualTo(expected.lastOffset());
        assertThat(batch.nextOffset()).isEqualTo(expected.nextOffset());
        assertThat(batch.size()).isEqualTo(expected.sizeInBytes());
        assertThat(batch.bytes().remaining()).isEqualTo(expected.sizeInBytes());
        assertThat(batch.leaderEpoch()).isEqualTo(expected.partitionLeaderEpoch());
        assertThat(batch.producerId()).isEqualTo(expected.producerId());
        assertThat(batch.isTransactional()).isEqualTo(expected.isTransactional());
        assertThat(batch.isControl()).isEqualTo(expected.isControlBatch());
        assertThat(batch.hasDeleteHorizon())
                .isEqualTo(expected.deleteHorizonMs().isPresent());
        if (!old) {
            assertThat(batch.count()).isEqualTo(expected.countOrNull());
            assertThat(batch.codecId()).isEqualTo(expected.compressionType().id);
            assertThat(batch.isLogAppendTime()).isEqualTo(expected.timestampType() == TimestampType.LOG_APPEND_TIME);
            assertThat(batch.maxTimestamp()).isEqualTo(expected.maxTimestamp());
        }
    }

    @Test
    void shouldSeeGapsWhenCompactionRemovedRecords() {
        assertThat(first(new BatchMaker(5).records(3)).hasGaps()).isFalse();
        assertThat(first(new BatchMaker(5).records(3).lastOffset(8)).hasGaps()).isTrue();
        BatchMaker middle = new BatchMaker(5).records(1).record(7, 1, null, null);
        assertThat(first(middle).hasGaps()).isTrue();
    }

    @Test
    void shouldFindEveryChangedByteWhenTheChecksumCoversIt() {
        ByteBuffer good =
                new BatchMaker(0).codec(CompressionType.LZ4).records(20).make();
        for (int at = ATTRIBUTES_AT; at < good.limit(); at++) {
            ByteBuffer bad = copy(good).put(at, (byte) (good.get(at) ^ 0x10));
            SourceBatch batch = new SourceBatch();
            batch.wrap(bad);

            assertThatThrownBy(() -> {
                        batch.moveToNext(); // may see it already
                        batch.checkIntegrity();
                    })
                    .as("byte %d", at)
                    .isInstanceOf(CorruptRecordException.class)
                    .hasMessageStartingWith("The batch at offset 0 has ");
        }
    }

    @Test
    void shouldRefuseToMoveWhenTheBytesAreNoBatch() {
        ByteBuffer good = new BatchMaker(33).records(2).make();

        assertRefused(copy(good).put(MAGIC_AT, (byte) 3), "offset 33 has magic 3");
        assertRefused(copy(good).put(MAGIC_AT, (byte) -1), "offset 33 has magic -1");
        assertRefused(copy(good).putInt(LENGTH_AT, good.limit()), "offset 33 says that it has");
        assertRefused(copy(good).putInt(LENGTH_AT, Integer.MAX_VALUE), "offset 33 says that it has");
        assertRefused(copy(good).putInt(LENGTH_AT, 48), "offset 33 says that it has 60 bytes");
        assertRefused(copy(good).putInt(LENGTH_AT, -1), "offset 33 says that it has 11 bytes");
        assertRefused(copy(good).limit(good.limit() - 1), "offset 33 says that it has");
        assertRefused(copy(good).limit(20), "The 20 bytes");
        assertRefused(copy(good).putInt(COUNT_AT, 3), "offset 33 has 3 records and last offset delta 1");
        assertRefused(copy(good).putInt(COUNT_AT, -1), "offset 33 has -1 records");
        assertRefused(copy(good).putInt(LAST_OFFSET_DELTA_AT, -1), "last offset delta -1");
        ByteBuffer noProgress = copy(good).putInt(COUNT_AT, 0).putInt(LAST_OFFSET_DELTA_AT, -1);
        assertRefused(noProgress, "has 0 records and last offset delta -1");
    }

    private static void assertRefused(ByteBuffer bytes, String message) {
        SourceBatch batch = new SourceBatch();
        batch.wrap(bytes);
        assertThatThrownBy(batch::moveToNext)
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageContaining(message);
    }

    @Test
    void shouldLeaveTheFetchedBufferAsItIsWhenItBeginsInTheMiddleOfAnArray() {
        ByteBuffer one = new BatchMaker(1).records(2).make();
        ByteBuffer two = new BatchMaker(3).records(2).make();
        ByteBuffer surrounded = ByteBuffer.allocateDirect(1000)
                .position(17)
                .put(one.duplicate())
                .put(two.duplicate())
                .flip()
                .position(17);
        int limit = surrounded.limit();
        SourceBatch batch = first(surrounded);
        batch.checkIntegrity();
        assertThat(batch.bytes()).isEqualTo(one);
        batch.bytes().get(new byte[30]); // what a reader does with the position does not matter
        assertThat(batch.moveToNext()).isTrue();
        batch.checkIntegrity();

        assertThat(batch.bytes()).isEqualTo(two);
        assertThat(batch.moveToNext()).isFalse();
        assertThat(surrounded.position()).isEqualTo(17);
        assertThat(surrounded.limit()).isEqualTo(limit);
    }

    @Test
    void shouldEndADamagedBatchWhereTheNextOneBeginsWhateverItsHeaderSays() {
        Random random = new Random(1);
        ByteBuffer one = new BatchMaker(100).randomRecords(random, 5).make();
        ByteBuffer two = new BatchMaker(105).randomRecords(random, 5).make();
        int lastOffsetDelta = 23;
        one.putInt(one.position() + lastOffsetDelta, 900);
        ByteBuffer both = ByteBuffer.allocate(one.remaining() + two.remaining());
        both.put(one.duplicate()).put(two).flip();

        SourceBatch followed = first(both);
        assertThat(followed.nextOffset()).isEqualTo(1001);
        assertThat(followed.nextOffsetOfDamaged(102)).isEqualTo(105);
        assertThat(followed.bytes().remaining()).isEqualTo(one.remaining());
        assertThat(first(one).nextOffsetOfDamaged(102)).isEqualTo(1001);
    }

    @Test
    void shouldReadTheHeadersThatKafkaReadsWhenBatchesAreRandom() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println("SourceBatchTest runs with -Dmillrace.seed=" + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            CompressionType codec = CompressionType.forId(random.nextInt(5));
            ByteBuffer bytes = new BatchMaker(random.nextLong() >>> 2)
                    .codec(codec)
                    .producer(random.nextInt(3) - 1, false)
                    .randomRecords(random, 1 + random.nextInt(5))
                    .make();
            SourceBatch batch = BatchMaker.first(bytes);

            assertSame(
                    batch,
                    MemoryRecords.readableRecords(bytes).batches().iterator().next());
            batch.checkIntegrity();
        }
    }

    private static SourceBatch first(BatchMaker batch) {
        return BatchMaker.first(batch.make());
    }

    private static SourceBatch first(ByteBuffer bytes) {
        return BatchMaker.first(bytes);
    }

    private static ByteBuffer copy(ByteBuffer bytes) {
        return ByteBuffer.allocate(bytes.remaining()).put(bytes.duplicate()).flip();
    }
}
