package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Seed;
import dev.millrace.client.delivery.DeliveryCertainty;
import dev.millrace.client.io.ProducerSimulation.Client;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Thousands of runs of the I/O thread's code against a simulated cluster whose connections break, whose leaders move
 * and whose replicas fail: what is acknowledged stands in the log once, in the order of sending, at the offset told.
 * {@link WeakenedTwinsTest} shows what these checks find.
 */
class ExactlyOnceSimulationTest {
    @Test
    void shouldWriteEveryRecordOnceAndInOrderWhenNothingExpires() throws Exception {
        check(SimulationScenario.NOTHING_EXPIRES, 500);
    }

    @Test
    void shouldWriteWhatIsAcknowledgedOnceAndInOrderWhenRecordsExpire() throws Exception {
        assertThat(check(SimulationScenario.RECORDS_EXPIRE, 500))
                .as("records that expired")
                .isPositive();
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"NOTHING_EXPIRES", "RECORDS_EXPIRE"})
    void shouldTellTheTruthOfEveryRecordWhateverHappens(SimulationScenario scenario) throws Exception {
        check(scenario, 100);
    }

    /** A seed in which a leader had told what it lacks just before, and a late request had written it when it forgot. */
    @Test
    void shouldAskAgainWhenTheMachineWasSuspendedBetweenTheAnswerAndTheRetry() throws Exception {
        SimulationScenario.MACHINE_IS_SUSPENDED.check(2_719_063);
    }

    /** Returns how many records failed. */
    private static int check(SimulationScenario scenario, int seeds) throws Exception {
        int failed = 0;
        for (long seed : Seed.several(seeds)) {
            failed += scenario.check(seed).failed.size();
        }
        return failed;
    }

    @Test
    void shouldTellEveryKindOfCertaintyWhenNotIdempotent() throws Exception {
        Map<DeliveryCertainty, Integer> told = new EnumMap<>(DeliveryCertainty.class);
        for (long seed = 1; seed < 100; seed++) {
            ProducerSimulation run = SimulationScenario.NOT_IDEMPOTENT.check(seed);
            run.certainties.values().forEach(certainty -> told.merge(certainty, 1, Integer::sum));
        }
        assertThat(told).as("what was told at all").containsOnlyKeys(DeliveryCertainty.values());
    }

    @Test
    void shouldObjectToCertaintyWhenBrokersLie() {
        assertThatThrownBy(() -> {
                    for (long seed = 1; seed < 500; seed++) {
                        ProducerSimulation run = new ProducerSimulation(seed, 0.5, Client.notIdempotent(5, 100), false);
                        run.cluster.topic.lie();

                        run.play();

                        new SimulationOracle(run).assertCertain();
                    }
                })
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("told to be NOT_PERSISTED");
    }

    @Test
    void shouldFindDoubledRecordsWhenBrokersDoNotCheckSequences() throws Exception {
        // the twin: with such brokers the same faults must be visible to the same checks
        int doubled = 0;
        for (long seed = 1; seed < 100; seed++) {
            ProducerSimulation run = new ProducerSimulation(seed, 0.15, Client.idempotent(Client.NEVER_MS), false);

            run.play();

            for (int p = 0; p < ProducerSimulation.PARTITIONS; p++) {
                doubled += run.cluster.topic.log(p).size() - new HashSet<>(run.cluster.topic.log(p)).size();
            }
        }
        assertThat(doubled).isPositive();
    }
}
