package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.io.TransactionSimulation.World;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A seed that a simulation prints when it fails gives the same run again: in the next minute, and in a process of
 * tomorrow.
 */
@Tag("thorough")
class SimulationSeedTest {
    private static final int SEEDS = 8;

    @Test
    void shouldPlayTheSameRunAgainWhenTheSeedIsTheSame() throws Exception {
        for (long seed = 0; seed < SEEDS; seed++) {
            for (SimulationScenario scenario : SimulationScenario.values()) {
                List<String> first = trace(scenario, seed);
                assertThat(trace(scenario, seed))
                        .as("%s of seed %d", scenario, seed)
                        .isEqualTo(first);
                assertThat(first)
                        .as("%s of seed %d and the next", scenario, seed)
                        .isNotEqualTo(trace(scenario, seed + 1));
            }
            List<String> transactions = traceOfTransactions(seed);
            assertThat(traceOfTransactions(seed)).as("seed %d", seed).isEqualTo(transactions);
            assertThat(transactions)
                    .as("seed %d and the one after the next", seed)
                    .isNotEqualTo(traceOfTransactions(seed + 2));
        }
    }

    /**
     * Where hash codes depend on the process, as those of objects and of {@code Set.of} do, only another one shows it.
     */
    @Test
    void shouldPlayTheSameRunAgainWhenTheProcessIsAnother() throws Exception {
        try (JavaProgram program = JavaProgram.start(
                JavaRuntime.ofThisJvm(), List.of("-Xmx128m", "-XX:TieredStopAtLevel=1"), PrintedTraces.class)) {
            assertThat(program.awaitEnd(Duration.ofSeconds(60)))
                    .as(program.output())
                    .isZero();

            assertThat(program.output().lines().filter(line -> line.startsWith("seed ")))
                    .isEqualTo(digests());
        }
    }

    static final class PrintedTraces {
        public static void main(String[] args) throws Exception {
            digests().forEach(System.out::println);
        }
    }

    private static List<String> digests() throws Exception {
        List<String> digests = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            StringBuilder digest = new StringBuilder("seed " + seed);
            for (SimulationScenario scenario : SimulationScenario.values()) {
                digest.append(' ').append(trace(scenario, seed).hashCode());
            }
            digests.add(digest.append(' ')
                    .append(traceOfTransactions(seed).hashCode())
                    .toString());
        }
        return digests;
    }

    /** What is said to brokers and by them, and what the application is told. */
    private static List<String> trace(SimulationScenario scenario, long seed) throws Exception {
        ProducerSimulation run = scenario.prepare(seed);
        List<String> trace = run.cluster.trace();
        run.play();
        return trace;
    }

    private static List<String> traceOfTransactions(long seed) throws Exception {
        boolean explicit = seed % 2 == 0;
        TransactionSimulation run =
                new TransactionSimulation(seed, World.of(explicit, 0.25).withExpiry(300), true);
        List<String> trace = run.cluster.trace();
        run.play();
        return trace;
    }
}
