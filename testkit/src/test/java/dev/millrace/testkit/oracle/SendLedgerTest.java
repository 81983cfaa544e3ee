package dev.millrace.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.oracle.LedgerVerdict.Tolerated;
import dev.millrace.testkit.oracle.LedgerVerdict.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each test plants one fault into what is read back, which the ledger must name, and nothing else. */
class SendLedgerTest {
    private static final int RUN = 1;
    private static final int PARTITIONS = 2;
    private static final int SENT = 12;
    private static final Map<String, Long> ALL_EXPECTED = Map.of("t", (long) SENT);
    private final Exception failure = new TimeoutException("planted");

    private final AtomicLong nowMs = new AtomicLong();
    private final SendLedger ledger = new SendLedger(RUN, () -> TimeUnit.MILLISECONDS.toNanos(nowMs.get()));
    private final List<SentRecord> sent = new ArrayList<>();
    private final List<ConsumerRecord<byte[], byte[]>> read = new ArrayList<>();
    private final Map<String, TopicTerms> terms = new HashMap<>(Map.of("t", TopicTerms.kept()));

    @BeforeEach
    void deliverWell() {
        for (int i = 0; i < SENT; i++) {
            int partition = i % PARTITIONS;
            SentRecord record = ledger.enter(0, "t", i % 3 == 0 ? -1 : partition, 0);
            record.onAcknowledged(metadata(partition, i / PARTITIONS));
            record.onFutureAcknowledged(metadata(partition, i / PARTITIONS));
            sent.add(record);
            read.add(read("t", partition, i / PARTITIONS, record));
        }
    }

    @Test
    void shouldBeCleanWhenAllIsAsTold() {
        LedgerVerdict verdict = judge();

        assertThat(verdict)
                .isEqualTo(new LedgerVerdict(SENT, SENT, 0, 0, 0, ALL_EXPECTED, Map.of(), Map.of(), List.of()));
        assertThat(verdict.isClean()).isTrue();
    }

    @Test
    void shouldFindALostRecord() {
        read.remove(5);

        assertOnly(Violation.LOST, 1, "LOST: thread 0, sequence 5, to t, partition 1, ");
    }

    @Test
    void shouldFindADoubledRecord() {
        read.add(read("t", 1, 6, sent.get(11)));

        assertOnly(Violation.DOUBLED, 1, "offset 6, timestamp 1006");
    }

    @Test
    void shouldFindRecordsInAnotherOrder() {
        // given 2 and 4 in each other's place, and told so
        SendLedger other = new SendLedger(RUN);
        List<SentRecord> swapped = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            swapped.add(other.enter(0, "t", 0, 0));
        }
        int[] order = {1, 0, 2};
        read.clear();
        for (int offset = 0; offset < order.length; offset++) {
            swapped.get(order[offset]).onAcknowledged(metadata(0, offset));
            read.add(read("t", 0, offset, swapped.get(order[offset])));
        }

        assertThat(other.judge(read, terms).violations()).isEqualTo(Map.of(Violation.REORDERED, 1L));
    }

    @Test
    void shouldFindALastCopyBeforeAnEarlierRecords() {
        // given an older writer's copy of record 8 after record 10
        read.add(read("t", 0, 6, sent.get(8)));

        LedgerVerdict verdict = judge();

        assertThat(verdict.violations()).isEqualTo(Map.of(Violation.DOUBLED, 1L, Violation.REORDERED, 1L));
    }

    @Test
    void shouldFindARecordInAnotherPartition() {
        read.set(4, read("t", 1, 6, sent.get(4)));

        assertThat(judge().violations()).isEqualTo(Map.of(Violation.MISROUTED, 1L, Violation.LOST, 1L));
    }

    @Test
    void shouldFindARecordInAnotherPartitionThanToldWhenTheProducerChoseIt() {
        read.set(6, read("t", 1, 6, sent.get(6)));

        assertThat(judge().violations()).isEqualTo(Map.of(Violation.MISROUTED, 1L, Violation.LOST, 1L));
    }

    @Test
    void shouldFindACopyInAnotherTopic() {
        terms.put("u", TopicTerms.kept());
        read.add(read("u", 0, 0, sent.get(0)));

        assertOnly(Violation.MISROUTED, 1, "read from u, partition 0, offset 0");
    }

    @Test
    void shouldFindARecordThatNobodySent() {
        read.add(read("t", 0, 6, new SendLedger(RUN).enter(7, "t", 0, 0)));
        read.add(read("t", 0, 7, new SendLedger(RUN + 1).enter(0, "t", 0, 0)));

        assertOnly(Violation.MISROUTED, 2, "never sent: Stamp[run=1, thread=7");
    }

    @Test
    void shouldFindAnOffsetThatWasToldWrongly() {
        read.set(11, read("t", 1, 6, sent.get(11)));

        assertOnly(Violation.TOLD_WRONGLY, 1, "partition 1, offset 5, timestamp 1005");
    }

    @Test
    void shouldFindATimestampThatWasToldWrongly() {
        read.set(11, read("t", 1, 5, 1006, sent.get(11).stamp().encode(100)));

        assertOnly(Violation.TOLD_WRONGLY, 1, "timestamp 1005; read from t, partition 1, offset 5, timestamp 1006");
    }

    @Test
    void shouldOnlyCountALaterTimestampThatAnotherRecordOfTheBatchHas() {
        acknowledge(6, 1008, 1006);
        acknowledge(7, 1008, 1008);
        acknowledge(8, 1008, 1007);
        acknowledge(9, 1009, 1009);

        assertThat(judge().isClean()).isTrue();
        assertThat(judge().tolerated()).isEqualTo(Map.of(Tolerated.TIMESTAMP_OF_A_WHOLE_BATCH, 2L));
    }

    @Test
    void shouldFindALaterTimestampThatNoRecordOfTheBatchHas() {
        acknowledge(6, 1009, 1006);
        acknowledge(7, 1009, 1007);
        acknowledge(8, 1008, 1008);
        acknowledge(9, 1009, 1009);

        assertOnly(
                Violation.TOLD_WRONGLY,
                2,
                "offset 6, timestamp 1009; read from t, partition 0, offset 6, timestamp 1006");
    }

    @Test
    void shouldFindALaterTimestampThatOnlyARecordAfterAGapHas() {
        acknowledge(6, 1008, 1006);
        acknowledge(8, 1008, 1008);

        assertOnly(Violation.TOLD_WRONGLY, 1, "offset 6, timestamp 1008");
    }

    @Test
    void shouldOnlyCountAnOffsetThatIsNotToldWhereTheRecordIsThere() {
        acknowledgeWithoutOffset(999, 6, 999);

        assertThat(judge().isClean()).isTrue();
        assertThat(judge().tolerated()).isEqualTo(Map.of(Tolerated.OFFSET_NOT_TOLD, 1L));
    }

    @Test
    void shouldFindALaterTimestampThatIsToldWithoutAnOffset() {
        acknowledgeWithoutOffset(1006, 6, 1005);
        acknowledge(7, 1006, 1006);

        assertOnly(
                Violation.TOLD_WRONGLY,
                1,
                "offset -1, timestamp 1006; read from t, partition 0, offset 6, timestamp 1005");
    }

    @Test
    void shouldFindARecordThatIsToldWithoutAnOffsetAfterALaterOne() {
        SentRecord first = ledger.enter(0, "t", 0, 0);
        SentRecord second = ledger.enter(0, "t", 0, 0);
        second.onAcknowledged(metadata(0, 7));
        first.onAcknowledged(metadata(0, -1));
        read.add(read("t", 0, 6, 999, first.stamp().encode(100)));
        read.add(read("t", 0, 7, second));

        assertOnly(Violation.TOLD_OUT_OF_ORDER, 1, "offset -1, timestamp 999, told after offset 7");
    }

    @Test
    void shouldFindALostRecordThatIsToldWithoutAnOffsetAlsoBeforeAnUncleanElection() {
        ledger.enter(0, "t", 0, 0).onAcknowledged(metadata(0, -1));
        terms.put("t", TopicTerms.unclean(Map.of(0, ledger.nowMs())));

        assertOnly(
                Violation.LOST,
                1,
                "sequence 12, to t, partition 0, sent at 0 ms, acknowledged at 0 ms: partition 0, offset -1");
    }

    @Test
    void shouldFindASecondCallback() {
        sent.get(3).onFailed(true, failure);

        assertOnly(Violation.TOLD_TWICE, 1, "sequence 3");
    }

    @Test
    void shouldFindARecordWithoutOutcome() {
        ledger.enter(0, "t", 0, 0);

        assertOnly(Violation.NOT_TOLD, 1, "sequence 12, to t, partition 0, ");
    }

    @Test
    void shouldFindACallbackInAnotherOrderThanOffsets() {
        SendLedger other = new SendLedger(RUN);
        SentRecord first = other.enter(0, "t", 0, 0);
        SentRecord second = other.enter(0, "t", 0, 0);
        second.onAcknowledged(metadata(0, 1));
        first.onAcknowledged(metadata(0, 0));

        LedgerVerdict verdict = other.judge(List.of(read("t", 0, 0, first), read("t", 0, 1, second)), terms);

        assertThat(verdict.violations()).isEqualTo(Map.of(Violation.TOLD_OUT_OF_ORDER, 1L));
    }

    @Test
    void shouldFindAFutureThatDisagrees() {
        sent.get(2).onFutureFailed();
        sent.get(3).onFutureAcknowledged(metadata(1, 5));

        assertOnly(Violation.FUTURE_DISAGREES, 2, "the future says that it failed");
    }

    @Test
    void shouldFindARecordThatIsThereThoughItCertainlyFailed() {
        SentRecord failed = ledger.enter(0, "t", 0, 0);
        failed.onFailed(false, failure);
        read.add(read("t", 0, 6, failed));

        assertOnly(Violation.THERE_THOUGH_FAILED, 1, "certainly not written: TimeoutException; read from t");
    }

    @Test
    void shouldFindDamagedBytes() {
        byte[] value = sent.get(11).stamp().encode(100);
        value[50]++;
        read.add(read("t", 1, 6, 0, value));

        assertOnly(Violation.DAMAGED, 1, "checksum");
    }

    @Test
    void shouldBeCleanWhateverBecameOfUnknownRecords() {
        SentRecord written = ledger.enter(0, "t", 0, 0);
        SentRecord notWritten = ledger.enter(0, "t", 0, 0);
        SentRecord failed = ledger.enter(0, "t", 0, 0);
        written.onFailed(true, failure);
        notWritten.onFailed(true, failure);
        failed.onFailed(false, failure);
        read.add(read("t", 0, 6, written));

        assertThat(judge())
                .isEqualTo(new LedgerVerdict(SENT + 3, SENT, 1, 2, 1, ALL_EXPECTED, Map.of(), Map.of(), List.of()));
    }

    @Test
    void shouldFindASecondCopyOfAnUnknownRecord() {
        SentRecord unknown = ledger.enter(0, "t", 0, 0);
        unknown.onFailed(true, failure);
        read.add(read("t", 0, 6, unknown));
        read.add(read("t", 0, 7, unknown));

        assertOnly(Violation.DOUBLED, 1, "possibly written");
    }

    @Test
    void shouldOnlyCountWhatIsGoneByAnUncleanElection() {
        terms.put("t", TopicTerms.unclean(Map.of(1, ledger.nowMs())));
        read.remove(11);
        read.remove(9);

        LedgerVerdict verdict = judge();

        assertThat(verdict.isClean()).isTrue();
        assertThat(verdict.expected()).isEqualTo(Map.of("t", SENT / 2L));
        assertThat(verdict.tolerated())
                .isEqualTo(Map.of(
                        Tolerated.ACKNOWLEDGED_BEFORE_UNCLEAN_ELECTION,
                        SENT / 2L,
                        Tolerated.GONE_BY_UNCLEAN_ELECTION,
                        2L));
    }

    @Test
    void shouldFindALostRecordThatWasToldAfterTheLastUncleanElection() {
        terms.put("t", TopicTerms.unclean(Map.of(0, ledger.nowMs())));
        nowMs.incrementAndGet();
        ledger.enter(0, "t", 0, 0).onAcknowledged(metadata(0, 6));

        assertOnly(Violation.LOST, 1, "sequence 12");
    }

    @Test
    void shouldFindALostRecordOfAPartitionWithoutUncleanElection() {
        terms.put("t", TopicTerms.unclean(Map.of(0, ledger.nowMs())));
        read.remove(11);

        assertOnly(Violation.LOST, 1, "sequence 11, to t, partition 1");
    }

    @Test
    void shouldFindADoubledRecordWhereUncleanElectionsLoseRecords() {
        terms.put("t", TopicTerms.unclean(Map.of(0, ledger.nowMs(), 1, ledger.nowMs())));
        read.add(read("t", 1, 6, sent.get(11)));

        assertOnly(Violation.DOUBLED, 1, "offset 6, timestamp 1006");
    }

    @Test
    void shouldFindAnOffsetThatWasToldWronglyWhereUncleanElectionsLoseRecords() {
        terms.put("t", TopicTerms.unclean(Map.of(0, ledger.nowMs(), 1, ledger.nowMs())));
        read.set(11, read("t", 1, 6, sent.get(11)));

        assertOnly(Violation.TOLD_WRONGLY, 1, "partition 1, offset 5, timestamp 1005");
    }

    @Test
    void shouldFindACallbackInAnotherOrderThanOffsetsAfterTheLastUncleanElection() {
        terms.put("t", TopicTerms.unclean(Map.of(0, ledger.nowMs(), 1, ledger.nowMs())));
        nowMs.incrementAndGet();

        tellInWrongOrder(0);

        assertOnly(Violation.TOLD_OUT_OF_ORDER, 1, "offset 6, timestamp 1006, told after offset 7");
    }

    @Test
    void shouldFindACallbackInAnotherOrderThanOffsetsInATopicThatWasCreatedAnew() {
        terms.put("t", TopicTerms.createdAnew(2));

        tellInWrongOrder(2);

        assertOnly(Violation.TOLD_OUT_OF_ORDER, 1, "offset 6, timestamp 1006, told after offset 7");
    }

    @Test
    void shouldJudgeTheOrderWhereUncleanElectionsLoseRecords() {
        terms.put("t", TopicTerms.unclean(Map.of(0, ledger.nowMs(), 1, ledger.nowMs())));
        ConsumerRecord<byte[], byte[]> first = read.remove(0);
        read.add(first);

        assertOnly(Violation.REORDERED, 1, "sequence 0, to t");
    }

    @Test
    void shouldOnlyCountWhatIsGoneWithATopicThatWasDeleted() {
        terms.put("t", TopicTerms.createdAnew(2));
        read.clear();
        SentRecord after = ledger.enter(0, "t", 0, 2);
        after.onAcknowledged(metadata(0, 0));
        read.add(read("t", 0, 0, after));

        LedgerVerdict verdict = judge();

        assertThat(verdict.isClean()).isTrue();
        assertThat(verdict.count(Tolerated.GONE_WITH_DELETED_TOPIC)).isEqualTo(SENT);
    }

    @Test
    void shouldFindALostRecordOfATopicThatWasCreatedAnew() {
        terms.put("t", TopicTerms.createdAnew(2));
        ledger.enter(0, "t", 0, 2).onAcknowledged(metadata(0, 6));

        assertOnly(Violation.LOST, 1, "sequence 12");
    }

    private void tellInWrongOrder(int generation) {
        SentRecord first = ledger.enter(0, "t", 0, generation);
        SentRecord second = ledger.enter(0, "t", 0, generation);
        second.onAcknowledged(metadata(0, 7));
        first.onAcknowledged(metadata(0, 6));
        read.add(read("t", 0, 6, first));
        read.add(read("t", 0, 7, second));
    }

    /** A further record of partition 0, at the place that is told. */
    private void acknowledge(long offset, long toldTimestamp, long timestamp) {
        SentRecord record = ledger.enter(0, "t", 0, 0);
        record.onAcknowledged(new RecordMetadata(new TopicPartition("t", 0), offset, 0, toldTimestamp, 0, 100));
        read.add(read("t", 0, offset, timestamp, record.stamp().encode(100)));
    }

    private void acknowledgeWithoutOffset(long toldTimestamp, long offset, long timestamp) {
        SentRecord record = ledger.enter(0, "t", 0, 0);
        record.onAcknowledged(new RecordMetadata(new TopicPartition("t", 0), -1, 0, toldTimestamp, 0, 100));
        read.add(read("t", 0, offset, timestamp, record.stamp().encode(100)));
    }

    private void assertOnly(Violation kind, long count, String example) {
        LedgerVerdict verdict = judge();
        assertThat(verdict.violations()).isEqualTo(Map.of(kind, count));
        assertThat(verdict.isClean()).isFalse();
        assertThat(verdict.examples()).hasSize((int) count);
        assertThat(verdict.examples().get(0)).contains(example);
    }

    private LedgerVerdict judge() {
        return ledger.judge(read, terms);
    }

    private static RecordMetadata metadata(int partition, long offset) {
        return new RecordMetadata(new TopicPartition("t", partition), offset, 0, 1000 + offset, 0, 100);
    }

    private static ConsumerRecord<byte[], byte[]> read(String topic, int partition, long offset, SentRecord record) {
        return read(topic, partition, offset, 1000 + offset, record.stamp().encode(100));
    }

    private static ConsumerRecord<byte[], byte[]> read(
            String topic, int partition, long offset, long timestamp, byte[] value) {
        return new ConsumerRecord<>(
                topic,
                partition,
                offset,
                timestamp,
                TimestampType.CREATE_TIME,
                0,
                value.length,
                null,
                value,
                new RecordHeaders(),
                Optional.empty());
    }
}
