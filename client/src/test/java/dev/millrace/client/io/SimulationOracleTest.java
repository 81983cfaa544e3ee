package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.io.SimulatedPartition.Written;
import java.util.function.LongPredicate;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** The oracle judges each record by what brokers answered for this one, not by what they ever did. */
class SimulationOracleTest {
    private static final int MOST_SEEDS = 200;

    @Test
    void shouldObjectWhenARecordIsToldAcknowledgedThatWasOnlyWrittenAndLost() throws Exception {
        for (long seed = 1; seed < MOST_SEEDS; seed++) {
            ProducerSimulation run = SimulationScenario.LOGS_ARE_LOST.check(seed);
            long lost = firstOrMinusOne(run, value -> isWrittenAndLost(run, value));
            if (lost >= 0) {
                run.failed.remove(lost);
                run.certainties.put(lost, DeliveryCertainty.PERSISTED);

                assertThatThrownBy(new SimulationOracle(run)::assertCertain)
                        .isInstanceOf(AssertionError.class)
                        .hasMessageContaining("a broker has acknowledged " + lost + ",");
                return;
            }
        }
        throw new AssertionError("No record was written, lost and failed");
    }

    @Test
    void shouldObjectWhenARecordIsToldNoOffsetThatWasAnsweredWithOne() throws Exception {
        ProducerSimulation run = SimulationScenario.LEADERS_RESTART.check(1);
        long first = firstOrMinusOne(run, value -> run.acknowledged.get(value).hasOffset());
        int partition = run.acknowledged.get(first).partition();
        TopicPartition where = new TopicPartition(SimulatedCluster.TOPIC, partition);
        run.acknowledged.put(first, new RecordMetadata(where, -1, 0, -1, -1, -1));

        assertThatThrownBy(new SimulationOracle(run)::assertOffsetsTold)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(first + " was told no offset");
    }

    private static long firstOrMinusOne(ProducerSimulation run, LongPredicate isWanted) {
        return run.futures.keySet().stream()
                .mapToLong(Long::longValue)
                .filter(isWanted)
                .sorted()
                .findFirst()
                .orElse(-1);
    }

    private static boolean isWrittenAndLost(ProducerSimulation run, long value) {
        return run.failed.containsKey(value)
                && !run.cluster.topic.acknowledgements().has(value) // a late answer may have
                && run.cluster.topic.allLogs().stream()
                        .anyMatch(p -> p.written.stream().map(Written::value).anyMatch(v -> v == value)
                                && !p.log.contains(value));
    }
}
