package dev.millrace.testkit.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.oracle.TransactionVerdict.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each test plants one anomaly into what is read, which the ledger must name, and nothing else. */
class TransactionLedgerTest {
    private static final int PARTITIONS = 2;

    private final TransactionLedger ledger = new TransactionLedger(1);

    /** What is there in the end, by partition. */
    private final List<List<Stamp>> logs = List.of(new ArrayList<>(), new ArrayList<>());

    private SentTransaction first;
    private SentTransaction second;

    /** Two committed transactions of two producers, one after the other, with two records in each partition. */
    @BeforeEach
    void commitTwo() {
        first = begin(0);
        commit(first);
        show(first);
        second = begin(1);
        commit(second);
        show(second);
    }

    @Test
    void shouldBeCleanWhenAllIsAsTold() {
        SentTransaction aborted = begin(0);
        aborted.onCommitting();
        aborted.onFailed(new TimeoutException("planted"));
        aborted.onAborted();
        begin(1); // and nobody asks to commit it

        TransactionVerdict verdict = judge();

        assertThat(verdict).isEqualTo(new TransactionVerdict(4, 2, 2, 0, 0, 8, Map.of(), List.of()));
        assertThat(verdict.isClean()).isTrue();
    }

    @Test
    void shouldFindALostRecordOfACommittedTransaction() {
        logs.get(1).remove(2);

        assertOnly(Violation.LOST, 1, "transaction 0 of producer 1, COMMITTED, 4 records");
    }

    @Test
    void shouldFindALostTransaction() {
        logs.forEach(log -> log.removeAll(first.records()));

        assertOnly(Violation.LOST, 4, "transaction 0 of producer 0, COMMITTED");
    }

    @Test
    void shouldFindAnAbortedTransaction() {
        SentTransaction aborted = begin(0);
        aborted.onAborted();
        logs.get(0).add(aborted.records().get(0));

        assertOnly(Violation.ABORTED_READ, 1, "3 are missing of transaction 1 of producer 0, ABORTED");
    }

    @Test
    void shouldFindATransactionThatNobodyAskedToCommit() {
        show(begin(0));

        assertOnly(Violation.ABORTED_READ, 1, "0 are missing of transaction 1 of producer 0, ABORTED");
    }

    @Test
    void shouldFindATransactionThatWasAbortedAfterAFailedCommit() {
        SentTransaction aborted = begin(0);
        aborted.onCommitting();
        aborted.onFailed(new TimeoutException("planted"));
        aborted.onAborted();
        show(aborted);

        assertOnly(Violation.ABORTED_READ, 1, "TimeoutException at ");
    }

    @Test
    void shouldExpectAllOrNothingOfATransactionOfUnknownOutcome() {
        SentTransaction whole = begin(0);
        whole.onCommitting();
        SentTransaction gone = begin(1);
        gone.onCommitting();
        show(whole);

        assertThat(judge()).isEqualTo(new TransactionVerdict(4, 2, 0, 2, 1, 12, Map.of(), List.of()));
    }

    @Test
    void shouldFindAPartOfATransactionOfUnknownOutcome() {
        SentTransaction part = begin(0);
        part.onCommitting();
        logs.get(0).add(part.records().get(0));

        assertOnly(Violation.PARTIAL, 1, "3 are missing of transaction 1 of producer 0, UNKNOWN, 4 records");
    }

    @Test
    void shouldFindADirtyRead() {
        SentTransaction open = begin(0);
        show(open);
        readMeanwhile();
        commit(open);

        assertOnly(Violation.DIRTY_READ, 4, "transaction 1 of producer 0, ");
    }

    @Test
    void shouldReadWhileACommitIsUnderWay() {
        SentTransaction open = begin(0);
        open.onCommitting();
        show(open);
        readMeanwhile();
        open.onCommitted();

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void shouldFindAReadOfWhatIsNotThereInTheEnd() {
        SentTransaction unknown = begin(0);
        unknown.onCommitting();
        show(unknown);
        readMeanwhile();
        logs.forEach(log -> log.removeAll(unknown.records()));

        assertOnly(Violation.UNREPEATABLE, 2, "in the end null");
    }

    @Test
    void shouldFindARecordThatAReadHasLeftOut() {
        CommittedReads reads = ledger.reads();
        reads.add(read(0, 0));
        reads.add(read(0, 2));

        assertOnly(Violation.UNREPEATABLE, 1, "t-0, record 1: ");
    }

    @Test
    void shouldFindAConsumerThatHasReadNothing() {
        readMeanwhile();
        ledger.reads();

        assertOnly(Violation.NOTHING_READ, 1, "8 records are there");
    }

    @Test
    void shouldFindADoubledRecord() {
        logs.get(0).add(second.records().get(2));

        assertOnly(Violation.DOUBLED, 1, "read from t-0, offset 4");
    }

    @Test
    void shouldFindRecordsOfATransactionInAnotherOrder() {
        logs.get(0).add(2, logs.get(0).remove(3));

        assertOnly(Violation.REORDERED, 1, "after sequence 2");
    }

    @Test
    void shouldFindATransactionAfterOneThatBeganWhenItWasCommitted() {
        logs.get(1).addAll(0, List.of(logs.get(1).remove(2), logs.get(1).remove(2)));

        assertOnly(Violation.REORDERED, 2, "after transaction 0 of producer 1");
    }

    @Test
    void shouldTakeTransactionsAtTheSameTimeInAnyOrder() {
        SentTransaction early = begin(0);
        SentTransaction late = begin(1);
        commit(early);
        commit(late);
        show(late);
        show(early);

        assertThat(judge().isClean()).isTrue();
    }

    @Test
    void shouldFindARecordInAnotherPartition() {
        logs.get(1).add(logs.get(0).remove(0));

        TransactionVerdict verdict = judge();

        assertThat(verdict.violations()).isEqualTo(Map.of(Violation.MISROUTED, 1L, Violation.LOST, 1L));
    }

    @Test
    void shouldFindARecordThatNobodySent() {
        logs.get(1).add(new Stamp(2, 0, "t", 1, 1));

        assertOnly(Violation.MISROUTED, 1, "never sent: ");
    }

    @Test
    void shouldFindADamagedRecord() {
        ConsumerRecord<byte[], byte[]> damaged = new ConsumerRecord<>("t", 0, 4, null, new byte[5]);

        TransactionVerdict verdict = ledger.judge(List.of(damaged));

        assertThat(verdict.count(Violation.DAMAGED)).isEqualTo(1);
    }

    private SentTransaction begin(int producer) {
        SentTransaction transaction = ledger.begin(producer);
        for (int i = 0; i < 2 * PARTITIONS; i++) {
            transaction.enter("t", i % PARTITIONS);
        }
        return transaction;
    }

    private static void commit(SentTransaction transaction) {
        transaction.onCommitting();
        transaction.onCommitted();
    }

    private void show(SentTransaction transaction) {
        transaction.records().forEach(stamp -> logs.get(stamp.partition()).add(stamp));
    }

    private void readMeanwhile() {
        CommittedReads reads = ledger.reads();
        all().forEach(reads::add);
    }

    private List<ConsumerRecord<byte[], byte[]>> all() {
        List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            for (int offset = 0; offset < logs.get(partition).size(); offset++) {
                all.add(read(partition, offset));
            }
        }
        return all;
    }

    private ConsumerRecord<byte[], byte[]> read(int partition, int offset) {
        return new ConsumerRecord<>(
                "t", partition, offset, null, logs.get(partition).get(offset).encode(0));
    }

    private TransactionVerdict judge() {
        return ledger.judge(all());
    }

    private void assertOnly(Violation kind, long count, String words) {
        TransactionVerdict verdict = judge();
        assertThat(verdict.violations()).as(verdict.toString()).isEqualTo(Map.of(kind, count));
        assertThat(verdict.examples()).allMatch(example -> example.startsWith(kind + ": "));
        assertThat(verdict.toString()).contains(words);
    }
}
