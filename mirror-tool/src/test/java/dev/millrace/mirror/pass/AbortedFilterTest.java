package dev.millrace.mirror.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.junit.jupiter.api.Test;

class AbortedFilterTest {
    private static final long P = 5;
    private static final long Q = 6;

    private final AbortedFilter filter = new AbortedFilter(new RecordCursor());

    @Test
    void shouldDropBatchesOfItsProducerFromTheFirstOffsetToTheMarker() {
        filter.onAnswer();
        filter.addAborted(P, 20);

        assertThat(isAborted(data(10, P, true))).as("an earlier transaction").isFalse();
        assertThat(isAborted(data(20, P, true))).isTrue();
        assertThat(isAborted(data(22, Q, true))).as("another producer").isFalse();
        assertThat(isAborted(data(24, -1, false))).as("no producer id").isFalse();
        assertThat(isAborted(data(26, P, true))).isTrue();
        assertThat(isAborted(commit(28, Q))).as("a control batch").isFalse();
        assertThat(isAborted(data(29, P, true))).isTrue();
        assertThat(isAborted(abort(31, P))).as("a control batch").isFalse();
        assertThat(isAborted(data(32, P, true))).as("the next transaction").isFalse();
    }

    @Test
    void shouldDropFromTheBatchThatHasTheFirstOffset() {
        filter.onAnswer();
        filter.addAborted(P, 21);

        assertThat(isAborted(data(20, P, true)))
                .as("offsets 20 and 21, as compaction may leave them")
                .isTrue();
    }

    @Test
    void shouldKeepBatchesOfTheSameProducerWhenTheyAreInNoTransaction() {
        filter.onAnswer();
        filter.addAborted(P, 0);

        assertThat(isAborted(data(10, P, false))).isFalse();
        assertThat(isAborted(data(12, P, true))).isTrue();
    }

    @Test
    void shouldTakeTheListInAnyOrder() {
        filter.onAnswer();
        filter.addAborted(P, 40);
        filter.addAborted(Q, 10);
        filter.addAborted(P, 10);

        assertThat(isAborted(data(10, P, true))).isTrue();
        assertThat(isAborted(abort(12, P))).isFalse();
        assertThat(isAborted(data(13, P, true))).isFalse();
        assertThat(isAborted(data(15, Q, true))).isTrue();
        assertThat(isAborted(data(40, P, true))).isTrue();
    }

    @Test
    void shouldForgetTheLastAnswerWhenTheNextDoesNotListItsTransactions() {
        filter.onAnswer();
        filter.addAborted(P, 10);
        filter.addAborted(Q, 100);
        assertThat(isAborted(data(10, P, true))).isTrue();

        filter.onAnswer();

        assertThat(isAborted(data(200, P, true))).isFalse();
        assertThat(isAborted(data(202, Q, true))).isFalse();
    }

    @Test
    void shouldGoOnDroppingWhenTheMarkerHasBeenRemoved() {
        filter.onAnswer();
        filter.addAborted(P, 10);

        assertThat(isAborted(data(10, P, true))).isTrue();
        assertThat(isAborted(BatchMaker.empty(12, 12, P, true, true))).isFalse();
        assertThat(isAborted(data(13, P, true))).isTrue();
    }

    @Test
    void shouldNotDropAnythingWhenTheBatchIsCorrupt() {
        filter.onAnswer();
        filter.addAborted(P, 10);
        ByteBuffer data = corrupt(data(10, P, true));
        ByteBuffer marker = corrupt(abort(12, P));

        assertThatThrownBy(() -> isAborted(data))
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageStartingWith("The batch at offset 10 has the checksum");
        assertThatThrownBy(() -> isAborted(marker))
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageStartingWith("The batch at offset 12 has the checksum");
    }

    @Test
    void shouldRefuseAMarkerWhenItHasNoType() {
        filter.onAnswer();
        ByteBuffer noType = new BatchMaker(12)
                .producer(P, true)
                .record(12, 1, new byte[] {0, 0}, null)
                .make();
        noType.putShort(21, (short) (noType.getShort(21) | 1 << 5));

        assertThatThrownBy(() -> isAborted(BatchMaker.withChecksum(noType)))
                .isInstanceOf(CorruptRecordException.class)
                .hasMessageContaining("offset 12 is a control batch whose record has no type");
    }

    private static ByteBuffer corrupt(ByteBuffer batch) {
        int last = batch.limit() - 1;
        return batch.put(last, (byte) (batch.get(last) + 1));
    }

    private boolean isAborted(ByteBuffer bytes) {
        SourceBatch batch = BatchMaker.first(bytes);
        filter.onBatch(batch);
        return filter.isAborted(batch);
    }

    private static ByteBuffer data(long offset, long producerId, boolean transactional) {
        return new BatchMaker(offset)
                .codec(CompressionType.LZ4)
                .producer(producerId, transactional)
                .records(2)
                .make();
    }

    private static ByteBuffer abort(long offset, long producerId) {
        return BatchMaker.marker(offset, producerId, new EndTransactionMarker(ControlRecordType.ABORT, 0));
    }

    private static ByteBuffer commit(long offset, long producerId) {
        return BatchMaker.marker(offset, producerId, new EndTransactionMarker(ControlRecordType.COMMIT, 0));
    }

    /**
     * A log whose transactions' ends are known, read in answers of any length from any offset, each with the list that
     * a broker would send: all aborted transactions that overlap it.
     */
    @Test
    void shouldDropExactlyTheAbortedBatchesWhenALogIsReadInAnyPieces() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        System.out.println("AbortedFilterTest runs with -Dmillrace.seed=" + seed);
        Random random = new Random(seed);
        int dropped = 0;
        for (int i = 0; i < 100; i++) {
            SimulatedLog log = new SimulatedLog(random);
            for (int j = 0; j < 10; j++) {
                dropped += log.read(filter, random);
            }
        }
        assertThat(dropped).isPositive();
    }

    private static final class SimulatedLog {
        private record Transaction(long producerId, long firstOffset, long lastOffset) {}

        private record Logged(
                ByteBuffer bytes, long baseOffset, long lastOffset, long producerId, boolean inTransaction) {}

        private final List<Logged> batches = new ArrayList<>();
        private final List<Transaction> aborted = new ArrayList<>();

        SimulatedLog(Random random) {
            Map<Long, Long> open = new HashMap<>();
            long offset = random.nextInt(100);
            for (int i = 0; i < 60 || !open.isEmpty(); i++) {
                long producerId = random.nextInt(4);
                Long begun = open.get(producerId);
                int choice = i < 60 ? random.nextInt(4) : 0;
                if (choice == 0 && begun != null) {
                    open.remove(producerId);
                    boolean abort = random.nextBoolean();
                    if (abort) {
                        aborted.add(new Transaction(producerId, begun, offset));
                    }
                    add(
                            abort ? abort(offset, producerId) : commit(offset, producerId),
                            offset,
                            offset,
                            producerId,
                            false);
                    offset++;
                } else if (i < 60) {
                    boolean transactional = choice < 3 || begun != null;
                    if (transactional && begun == null) {
                        open.put(producerId, offset);
                    }
                    add(data(offset, producerId, transactional), offset, offset + 1, producerId, transactional);
                    offset += 2 + (random.nextInt(5) == 0 ? 1 : 0);
                }
            }
        }

        private void add(ByteBuffer bytes, long baseOffset, long lastOffset, long producerId, boolean inTransaction) {
            batches.add(new Logged(bytes, baseOffset, lastOffset, producerId, inTransaction));
        }

        int read(AbortedFilter filter, Random random) {
            int dropped = 0;
            int from = random.nextInt(batches.size());
            while (from < batches.size()) {
                int to = Math.min(batches.size(), from + 1 + random.nextInt(20));
                List<Logged> answer = batches.subList(from, to);
                beginAnswer(filter, answer, random);
                dropped += readAnswer(filter, answer);
                from = to + random.nextInt(3) / 2 * random.nextInt(5);
            }
            return dropped;
        }

        private void beginAnswer(AbortedFilter filter, List<Logged> answer, Random random) {
            long position = answer.get(0).baseOffset + random.nextInt(2); // may be inside of the first batch
            long end = answer.get(answer.size() - 1).lastOffset;
            List<Transaction> list = new ArrayList<>(aborted);
            Collections.shuffle(list, random);
            filter.onAnswer();
            for (Transaction next : list) {
                if (next.firstOffset <= end && next.lastOffset >= position) {
                    filter.addAborted(next.producerId, next.firstOffset);
                }
            }
        }

        private int readAnswer(AbortedFilter filter, List<Logged> answer) {
            int dropped = 0;
            SourceBatch batch = new SourceBatch();
            batch.wrap(BatchMaker.join(answer.stream().map(Logged::bytes).toList()));
            for (Logged expected : answer) {
                assertThat(batch.moveToNext()).isTrue();
                filter.onBatch(batch);
                assertThat(filter.isAborted(batch))
                        .as("the batch at %d of producer %d", expected.baseOffset, expected.producerId)
                        .isEqualTo(isAborted(expected));
                dropped += isAborted(expected) ? 1 : 0;
            }
            return dropped;
        }

        private boolean isAborted(Logged batch) {
            return batch.inTransaction
                    && aborted.stream()
                            .anyMatch(next -> next.producerId == batch.producerId
                                    && next.firstOffset <= batch.baseOffset
                                    && batch.lastOffset < next.lastOffset);
        }
    }
}
