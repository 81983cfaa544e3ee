package dev.millrace.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

/** Each test plants a fault, which the oracle must name: an oracle that cannot fail proves nothing. */
class TopicDigestTest {
    private static final long TIME = 1_700_000_000_000L;

    private final List<ConsumerRecord<byte[], byte[]>> source = records(0, 0, 10, 1, 10, 20);
    private final List<ConsumerRecord<byte[], byte[]>> target = new ArrayList<>(source);

    @Test
    void shouldBeExactWhenCopyIsFaithful() {
        Comparison comparison = compare();

        assertThat(comparison).isEqualTo(new Comparison(20, 20, 0, 0, 0, 0, 0, 0, List.of()));
        assertThat(comparison.isExact()).isTrue();
        assertThat(comparison).hasToString("20 records, all there, in order");
    }

    @Test
    void shouldFindTheOneFaultWhenRecordsAreMillions() {
        TopicDigest all = TopicDigest.of(() -> numbered(2_000_000).iterator());
        TopicDigest allButOne = TopicDigest.of(
                () -> numbered(2_000_000).filter(r -> r.timestamp() != 77).iterator());

        assertThat(all.records()).isEqualTo(2_000_000);
        assertThat(all.compare(all)).hasToString("2,000,000 records, all there, in order");
        assertThat(all.compare(allButOne))
                .hasToString("2,000,000 records, 1 lost\n  lost: record 77, from 0, of partition 0 of the source");
    }

    @Test
    void shouldNameLossWhenRecordIsMissing() {
        target.remove(13);

        Comparison comparison = compare();

        assertThat(comparison.lost()).isEqualTo(1);
        assertThat(comparison.isCompleteWithDuplicates()).isFalse();
        assertThat(comparison)
                .hasToString("20 records, 1 lost\n  lost: record 3, from 0, of partition 1 of the source");
    }

    @Test
    void shouldCountEveryLossWhenPartitionIsMissing() {
        target.removeIf(record -> record.partition() == 1);

        assertThat(compare().lost()).isEqualTo(10);
        assertThat(compare().examples()).hasSize(3);
    }

    @Test
    void shouldBeCompleteButNotExactWhenPartIsSentAgain() {
        target.addAll(7, source.subList(4, 7));

        Comparison comparison = compare();

        assertThat(comparison.isCompleteWithDuplicates()).isTrue();
        assertThat(comparison.isExact()).isFalse();
        assertThat(comparison.doubled()).isEqualTo(3);
        assertThat(comparison.toString()).startsWith("20 records, all there, in order, 3 doubled\n");
    }

    @Test
    void shouldTellLossFromCopiesWhenSourceRepeatsItself() {
        source.addAll(source.subList(0, 10));
        target.addAll(source.subList(0, 9));

        Comparison comparison = compare();

        assertThat(comparison.lost()).isEqualTo(1);
        assertThat(comparison.doubled()).isZero();
        assertThat(comparison.reordered()).isZero();
    }

    @Test
    void shouldNameReorderWhenNeighboursAreSwapped() {
        Collections.swap(target, 3, 4);

        Comparison comparison = compare();

        assertThat(comparison.reordered()).isEqualTo(1);
        assertThat(comparison.lost()).isZero();
        assertThat(comparison.isCompleteWithDuplicates()).isFalse();
        assertThat(comparison.toString()).contains("1 reordered", "reordered: record 4, from 0, of partition 0");
    }

    @Test
    void shouldNameReorderWhenAnOlderCopyComesAfterTheLastCopyOfALaterRecord() {
        target.add(10, source.get(7)); // 0 to 9 of partition 0, and then 7 again

        Comparison comparison = compare();

        assertThat(comparison.reordered()).as("first copies").isZero();
        assertThat(comparison.lastReordered()).isEqualTo(1);
        assertThat(comparison.isCompleteWithDuplicates()).isFalse();
        assertThat(comparison).hasToString("""
                        20 records, 1 doubled, 1 reordered in their last copies
                          doubled: record 10, from 0, of partition 0 of the target
                          last copy reordered: record 10, from 0, of partition 0 of the target""");
    }

    @Test
    void shouldNameReorderWhenTwoWritersTakeTurns() {
        // two writers, each in order: one writes 0 to 6, the other 2 to 9
        target.clear();
        for (int n : new int[] {0, 1, 2, 3, 2, 3, 4, 5, 4, 6, 7, 5, 8, 9, 6}) {
            target.add(source.get(n));
        }
        target.addAll(source.subList(10, 20));

        Comparison comparison = compare();

        assertThat(comparison.reordered()).as("first copies").isZero();
        assertThat(comparison.doubled()).isEqualTo(5);
        assertThat(comparison.lastReordered()).as("5 after 7, and 6 after 9").isEqualTo(2);
        assertThat(comparison.isCompleteWithDuplicates()).isFalse();
    }

    @Test
    void shouldHaveNothingToSayAboutLastCopiesWhenARestartGoesBackAnyNumberOfTimes() {
        target.clear();
        target.addAll(source.subList(0, 6));
        target.addAll(source.subList(2, 8));
        target.addAll(source.subList(0, 3));
        target.addAll(source.subList(3, 20));

        Comparison comparison = compare();

        assertThat(comparison.doubled()).isEqualTo(12);
        assertThat(comparison.isCompleteWithDuplicates()).isTrue();
    }

    @Test
    void shouldCountAReorderOnceWhenOtherRecordsOfThePartitionAreDoubled() {
        Collections.swap(target, 3, 4);
        target.add(10, source.get(9));

        Comparison comparison = compare();

        assertThat(comparison.reordered()).isEqualTo(1);
        assertThat(comparison.lastReordered()).isZero();
        assertThat(comparison.isCompleteWithDuplicates()).isFalse();
    }

    @Test
    void shouldNameWrongPlaceWhenRecordIsInAnotherPartition() {
        target.set(19, copy(source.get(19), 0));

        Comparison comparison = compare();

        assertThat(comparison.misrouted()).isEqualTo(1);
        assertThat(comparison.lost()).isZero();
        assertThat(comparison.unexpected()).isZero();
        assertThat(comparison.isCompleteWithDuplicates()).isFalse();
        assertThat(comparison.toString()).contains("misrouted: record 10, from 0, of partition 0 of the target");
    }

    @Test
    void shouldNameStrangerWhenRecordComesFromNowhere() {
        target.add(record(3, TIME, "key", "never sent"));

        Comparison comparison = compare();

        assertThat(comparison.unexpected()).isEqualTo(1);
        assertThat(comparison.isCompleteWithDuplicates()).isFalse();
        assertThat(comparison.toString()).contains("unexpected: record 0, from 0, of partition 3 of the target");
    }

    @Test
    void shouldNameDamageWhenAnyPartOfRecordDiffers() {
        List<ConsumerRecord<byte[], byte[]>> different = List.of(
                record(0, TIME, "key", "value"),
                record(0, TIME + 1, "key", "value"),
                record(0, TIME, "kez", "value"),
                record(0, TIME, "key", "valuf"),
                record(0, TIME, "key", "value\0"),
                record(0, TIME, "keyv", "alue"),
                record(0, TIME, null, "value"),
                record(0, TIME, "", "value"),
                record(0, TIME, "key", null),
                record(0, TIME, "key", ""),
                record(0, TIME, "key", "value", "h", "x"),
                record(0, TIME, "key", "value", "h", "y"),
                record(0, TIME, "key", "value", "h", ""),
                record(0, TIME, "key", "value", "h", null),
                record(0, TIME, "key", "value", "h", "x", "i", "x"),
                record(0, TIME, "key", "value", "i", "x", "h", "x"));

        assertThat(different.stream().map(RecordHash::of)).doesNotHaveDuplicates();
        assertThat(RecordHash.of(different.get(0))).isEqualTo(RecordHash.of(record(1, TIME, "key", "value")));
    }

    @Test
    void shouldFindEveryRecordOnceWhateverItsPartitionAndOrder() {
        target.replaceAll(record -> copy(record, (int) (record.timestamp() % 3)));
        Collections.reverse(target);

        UnorderedComparison comparison = compareUnordered();

        assertThat(compare().isExact()).isFalse();
        assertThat(comparison).isEqualTo(new UnorderedComparison(20, 20, 0, 0));
        assertThat(comparison.isExact()).isTrue();
        assertThat(comparison).hasToString("20 records, all there once");
    }

    @Test
    void shouldMissWhatIsLostAndCountWhatIsTooMuchWhateverThePartition() {
        target.remove(3);
        target.add(copy(target.get(7), 1));
        target.add(record(0, TIME, "stranger", "value"));

        UnorderedComparison comparison = compareUnordered();

        assertThat(comparison).isEqualTo(new UnorderedComparison(20, 21, 1, 2));
        assertThat(comparison.isExact()).isFalse();
        assertThat(comparison).hasToString("20 records, 1 lost, 2 doubled or unexpected");
    }

    private UnorderedComparison compareUnordered() {
        return UnorderedComparison.compare(TopicDigest.of(source), TopicDigest.of(target));
    }

    private Comparison compare() {
        return TopicDigest.of(source).compare(TopicDigest.of(target));
    }

    /** Distinct records; each three arguments are a partition, the first record and the end. */
    private static List<ConsumerRecord<byte[], byte[]>> records(int... partitionFirstEnd) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < partitionFirstEnd.length; i += 3) {
            int partition = partitionFirstEnd[i];
            IntStream.range(partitionFirstEnd[i + 1], partitionFirstEnd[i + 2])
                    .forEach(n -> records.add(record(partition, TIME + n, "key", "value " + n)));
        }
        return records;
    }

    private static Stream<ConsumerRecord<byte[], byte[]>> numbered(int count) {
        return IntStream.range(0, count).mapToObj(n -> record(0, n, "key", "value"));
    }

    private static ConsumerRecord<byte[], byte[]> copy(ConsumerRecord<byte[], byte[]> original, int partition) {
        return record(partition, original.timestamp(), original.key(), original.value(), original.headers());
    }

    private static ConsumerRecord<byte[], byte[]> record(
            int partition, long timestamp, String key, String value, String... headerKeysAndValues) {
        Headers headers = new RecordHeaders();
        for (int i = 0; i < headerKeysAndValues.length; i += 2) {
            headers.add(headerKeysAndValues[i], bytes(headerKeysAndValues[i + 1]));
        }
        return record(partition, timestamp, bytes(key), bytes(value), headers);
    }

    private static ConsumerRecord<byte[], byte[]> record(
            int partition, long timestamp, byte[] key, byte[] value, Headers headers) {
        return new ConsumerRecord<>(
                "t", partition, 0, timestamp, TimestampType.CREATE_TIME, 0, 0, key, value, headers, Optional.empty());
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }
}
