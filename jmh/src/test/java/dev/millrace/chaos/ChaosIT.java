package dev.millrace.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * As short as a run can be with a few faults of each row. What it finds is wrong in the producer, in Kafka or in the
 * ledger, and not to be tried again but understood: {@code testkit/chaos --seed} has the same faults, for longer.
 */
@Tag("thorough")
class ChaosIT {
    /**
     * Records begin with a restart of a sole replica that has not answered, transactions with kill -9; both over a network
     * that breaks, and with 30 s for each record. Other seeds are for {@code testkit/chaos}, where somebody reads what they
     * find.
     */
    private static final long SEED = Long.getLong("millrace.seed", 1159);

    private static final Duration TIME = Duration.ofSeconds(6);

    @AutoClose
    private static final KafkaCluster cluster = ChaosCluster.start();

    @Test
    void shouldFindEveryRecordAsToldWhateverBreaks() throws Exception {
        String last = lastLine(out -> new ChaosRun(cluster, SEED, false, out).run(TIME));

        assertThat(last)
                .matches("sent \\d+ acknowledged [1-9]\\d{3,} failed \\d+ unknown \\d+"
                        + " lost 0 doubled 0 reordered 0 misrouted 0 faults [1-9]\\d* seed " + SEED);
    }

    @Test
    void shouldFindEveryTransactionAsToldWhateverBreaks() throws Exception {
        String last = lastLine(out -> new TransactionRun(cluster, SEED, false, out).run(TIME));

        assertThat(last)
                .matches("transactions \\d+ committed [1-9]\\d+ aborted [1-9]\\d* unknown \\d+ lost 0 aborted-read 0"
                        + " dirty-read 0 partial 0 doubled 0 reordered 0 faults [1-9]\\d* seed " + SEED);
    }

    private interface Run {
        boolean isClean(PrintStream out) throws Exception;
    }

    private static String lastLine(Run run) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        boolean isClean;
        try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8)) {
            isClean = run.isClean(out);
        } finally {
            System.out.println(bytes.toString(StandardCharsets.UTF_8)); // also when it throws
        }

        String text = bytes.toString(StandardCharsets.UTF_8);
        assertThat(isClean).as(text).isTrue();
        return text.lines().reduce((first, last) -> last).orElseThrow();
    }
}
