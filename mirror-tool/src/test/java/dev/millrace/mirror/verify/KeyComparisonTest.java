package dev.millrace.mirror.verify;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class KeyComparisonTest {
    private static final int KEYS = 40;
    private static final int MOST_KEYS = 5;

    @Property
    void shouldNeverReportWhatCompactionDoes(@ForAll @IntRange(max = 300) int records, @ForAll long seed) {
        Random random = new Random(seed);
        List<ConsumerRecord<byte[], byte[]>> all = make(records, random);

        PartitionResult result = compare(compact(all, random), compact(all, random), records);

        assertThat(result.faults()).isEmpty();
        assertThat(result.notCopiedYet()).isZero();
    }

    @Property
    void shouldFindTheOneKeyThatDiffers(@ForAll @IntRange(min = 1, max = 300) int records, @ForAll long seed) {
        Random random = new Random(seed);
        List<ConsumerRecord<byte[], byte[]>> all = make(records, random);
        List<ConsumerRecord<byte[], byte[]>> target = compact(all, random);
        all.add(record(records, 7, "last"));
        target.add(record(records, 7, "other"));

        PartitionResult result = compare(compact(all, random), target, records + 1);

        assertThat(result.faults()).isEqualTo(Map.of(Fault.DIFFERENT, 1L));
        assertThat(result.first().get(0).describe())
                .isEqualTo(
                        "partition 0: 1 record different, source offset %,d, target offset %1$,d".formatted(records));
    }

    @Test
    void shouldTellMissingAndExtraKeysAndThoseThatAreNotCopiedYet() {
        List<ConsumerRecord<byte[], byte[]>> source =
                List.of(record(0, 1, "a"), record(1, 2, "b"), record(2, 3, null), record(3, 4, "d"));
        List<ConsumerRecord<byte[], byte[]>> target = List.of(record(0, 1, "a"), record(1, 3, "c"));

        PartitionResult result = compare(source, target, 3);

        assertThat(result.faults()).isEqualTo(Map.of(Fault.MISSING, 1L, Fault.EXTRA, 1L));
        assertThat(result.notCopiedYet()).isEqualTo(1);
        assertThat(result.same()).isEqualTo(1);
    }

    @Test
    void shouldNotBlameAKeyThatChangesMeanwhile() {
        List<ConsumerRecord<byte[], byte[]>> compactedMeanwhile = List.of(record(0, 1, "a"), record(9, 2, "new"));
        List<ConsumerRecord<byte[], byte[]>> target = List.of(record(0, 1, "a"), record(1, 2, "b"));

        assertThat(compare(compactedMeanwhile, target, 5).faults()).isEmpty();
    }

    /** The ends of both sides are at offset 5, or after all records if these are more. */
    private static PartitionResult compare(
            List<ConsumerRecord<byte[], byte[]>> source, List<ConsumerRecord<byte[], byte[]>> target, long copiedUpTo) {
        long end = Math.max(5, copiedUpTo);
        PartitionTally tally = new PartitionTally(0, true);
        PartitionRange range = new PartitionRange(0, end, copiedUpTo, 0, end, false, false);
        new KeyComparison(new Listed(source), new Listed(target), range, tally, true, MOST_KEYS).run();
        return tally.result();
    }

    private static List<ConsumerRecord<byte[], byte[]>> make(int records, Random random) {
        List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
        for (int i = 0; i < records; i++) {
            all.add(record(i, random.nextInt(KEYS), random.nextInt(4) == 0 ? null : "value " + i));
        }
        return all;
    }

    /** Removes some of the records that are not the last ones of their keys, and some that delete theirs. */
    private static List<ConsumerRecord<byte[], byte[]>> compact(
            List<ConsumerRecord<byte[], byte[]>> all, Random random) {
        Map<Byte, Long> last = new HashMap<>();
        all.forEach(record -> last.put(record.key()[0], record.offset()));
        List<ConsumerRecord<byte[], byte[]>> left = new ArrayList<>(all);
        // From an offset on nothing is compacted yet, as in a log; so a deletion never goes before what it deletes.
        long clean = random.nextInt(all.size() + 1);
        boolean isWithoutTombstones = random.nextBoolean();
        left.removeIf(record -> record.offset() < clean
                && (last.get(record.key()[0]) != record.offset() || (record.value() == null && isWithoutTombstones)));
        return left;
    }

    private static ConsumerRecord<byte[], byte[]> record(long offset, int key, String value) {
        return new ConsumerRecord<>(
                "topic", 0, offset, new byte[] {(byte) key}, value == null ? null : value.getBytes(UTF_8));
    }

    private record Listed(List<ConsumerRecord<byte[], byte[]>> records) implements KeyComparison.Log {
        @Override
        public void read(long from, long to, Consumer<ConsumerRecord<byte[], byte[]>> handler) {
            records.stream()
                    .filter(record -> record.offset() >= from && record.offset() < to)
                    .forEach(handler);
        }

        @Override
        public long presentEnd() {
            return Long.MAX_VALUE;
        }
    }
}
