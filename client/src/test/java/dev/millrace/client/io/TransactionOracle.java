package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.io.SimulatedPartition.Written;
import dev.millrace.client.io.TransactionSimulation.End;
import dev.millrace.client.io.TransactionSimulation.Outcome;
import dev.millrace.client.io.TransactionSimulation.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/** Compares what the application of a {@link TransactionSimulation} was told with what readers see. */
final class TransactionOracle {
    private final TransactionSimulation run;

    TransactionOracle(TransactionSimulation run) {
        this.run = run;
    }

    void assertAll() throws InterruptedException {
        assertThat(run.violations()).as("seed %d", run.seed).isEmpty();
        assertCommitted();
        assertOutcomes();
        assertThat(run.client.pool.available())
                .as("seed %d: free memory", run.seed)
                .isEqualTo(run.client.pool.total());
    }

    /** Readers see what was committed, whole, once and in order, and nothing else. */
    void assertCommitted() {
        List<Transaction> visible =
                run.transactions.stream().filter(this::mustBeVisible).toList();
        OffsetAndMetadata offset = null;
        for (Transaction transaction : visible) {
            offset = transaction.offset == null ? offset : transaction.offset;
        }
        for (int p = 0; p < TransactionSimulation.PARTITIONS; p++) {
            List<Long> expected = new ArrayList<>();
            for (Transaction transaction : visible) {
                expected.addAll(transaction.values.get(p));
            }
            assertThat(run.cluster.topic.committed(p))
                    .as("seed %d partition %d", run.seed, p)
                    .isEqualTo(expected);
        }
        assertThat(run.coordinator.offsets.get(TransactionSimulation.READ_FROM))
                .as("seed %d: offsets", run.seed)
                .isEqualTo(offset);
    }

    /** If it is unknown whether it was committed: all of it, or nothing. */
    private boolean mustBeVisible(Transaction transaction) {
        return transaction.end == End.COMMITTED
                || (transaction.end == End.UNKNOWN
                        && transaction.values.keySet().stream().anyMatch(p -> {
                            List<Long> seen = run.cluster.topic.committed(p);
                            return transaction.values.get(p).stream().anyMatch(seen::contains);
                        }));
    }

    /** Every record has one outcome, the same by future and callback, and it is true. */
    private void assertOutcomes() throws InterruptedException {
        Set<Long> written = run.cluster.topic.allLogs().stream()
                .flatMap(partition -> partition.written.stream())
                .map(Written::value)
                .collect(Collectors.toSet());
        for (Transaction transaction : run.transactions) {
            for (long value : transaction.allValues().toList()) {
                Outcome outcome = run.outcomes.get(value);
                assertThat(outcome.certainty)
                        .as("seed %d: callback of %d", run.seed, value)
                        .isNotNull();
                assertFutureAgrees(value, outcome);
                if (outcome.error == null) {
                    assertWritten(value, outcome);
                } else {
                    assertThat(transaction.end)
                            .as("seed %d: end of the transaction of %d, which failed", run.seed, value)
                            .isNotEqualTo(End.COMMITTED);
                }
                assertThat(outcome.error == null)
                        .as("seed %d: certainty of %d", run.seed, value)
                        .isEqualTo(outcome.certainty == DeliveryCertainty.PERSISTED);
                if (outcome.certainty == DeliveryCertainty.NOT_PERSISTED) {
                    assertThat(written)
                            .as("seed %d: told to be in no log", run.seed)
                            .doesNotContain(value);
                }
            }
        }
    }

    private void assertWritten(long value, Outcome outcome) {
        List<Long> log = run.cluster.topic.log(outcome.partition);
        assertThat(outcome.metadata.partition()).isEqualTo(outcome.partition);
        assertThat(log).as("seed %d: acknowledged", run.seed).contains(value);
        if (outcome.metadata.hasOffset()) {
            assertThat(log.get((int) outcome.metadata.offset()))
                    .as("seed %d: at the offset that was told", run.seed)
                    .isEqualTo(value);
        }
    }

    private void assertFutureAgrees(long value, Outcome outcome) throws InterruptedException {
        assertThat(outcome.future.isDone())
                .as("seed %d: future of %d", run.seed, value)
                .isTrue();
        if (outcome.error != null) {
            assertThat(catchThrowable(outcome.future::get))
                    .as("seed %d: future of %d", run.seed, value)
                    .isInstanceOf(ExecutionException.class)
                    .hasCause(outcome.error);
        } else {
            try {
                assertThat(outcome.future.get())
                        .as("seed %d: future of %d", run.seed, value)
                        .hasToString(outcome.metadata.toString());
            } catch (ExecutionException e) {
                throw new AssertionError("seed " + run.seed + ": the callback was told of success, not the future", e);
            }
        }
    }
}
