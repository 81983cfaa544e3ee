package dev.millrace.client.io;

import static dev.millrace.testkit.twin.Weakening.call;
import static dev.millrace.testkit.twin.Weakening.withoutCall;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.io.TransactionSimulation.World;
import dev.millrace.testkit.twin.Weakening;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@link TransactionSimulationTest} finds out a producer that is wrong in one thing. */
class WeakenedTransactionsTest {
    private static final int MOST_SEEDS = 300;

    @SuppressWarnings("ImmutableEnumChecker") // only a count of hits changes
    private enum Twin {
        END_DOES_NOT_WAIT_FOR_RECORDS(call("io.TransactionDriver", "askNext", "areSharesDone", 1)),
        FAILED_RECORD_IS_COMMITTED_OVER(withoutCall("io.IoThreadTransactionShare", "onFailed", "onRecordFailed")),
        PARTITION_IS_NOT_ADDED(call("io.IoThreadTransactionShare", "tryAdmit", "isExplicit", 0)),
        LOST_REQUEST_COUNTS_AS_NOTHING(withoutCall("io.TransactionDriver", "addPartitions", "notePerhapsAdded")),
        WRITING_DOES_NOT_BEGIN_IT(withoutCall("io.IoThreadTransactionShare", "tryAdmit", "noteContent")),
        NO_NEW_EPOCH_AFTER_A_GAP(withoutCall("io.IoThreadTransactionShare", "onFailed", "noteFailed")),
        CALLBACKS_DO_NOT_RUN(withoutCall("accumulator.FinishedBatch", "deliver", "deliver"));

        private final Weakening weakening;

        Twin(Weakening weakening) {
            this.weakening = weakening;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldFindEveryTwin(Twin twin) throws Exception {
        WeakenedClasses classes = new WeakenedClasses(List.of(twin.weakening));
        Method check =
                classes.loadClass(WeakenedTransactionsTest.class.getName()).getDeclaredMethod("check", long.class);
        check.setAccessible(true);
        Throwable found = null;
        int seed = 0;
        while (found == null && ++seed <= MOST_SEEDS) {
            found = failureOf(check, seed);
        }

        assertThat(twin.weakening.hits()).as("what there is to weaken").isPositive();
        assertThat(found).as("%s after %d seeds", twin, seed).isNotNull();
        System.out.printf("%s: seed %d: %s%n", twin, seed, found);
    }

    private static Throwable failureOf(Method check, long seed) throws IllegalAccessException {
        try {
            check.invoke(null, seed);
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }

    /** Called by reflection, of the class that uses the weakened ones. */
    static void check(long seed) throws InterruptedException {
        for (boolean explicit : new boolean[] {false, true}) {
            World calm = World.of(explicit, 0.1);
            check(new TransactionSimulation(seed, calm.withFailures(), true));
            check(new TransactionSimulation(seed, calm.withFailures().withExpiry(300), true));
            TransactionSimulation refusing = new TransactionSimulation(seed, calm, true);
            refusing.cluster.topic.refuse(0.05);
            refusing.play();
            new TransactionOracle(refusing).assertAll();
        }
    }

    private static void check(TransactionSimulation run) throws InterruptedException {
        run.play();
        new TransactionOracle(run).assertAll();
        assertThat(run.world.nothingMayFail() && run.failures > 0)
                .as("failed although nothing expired")
                .isFalse();
    }
}
