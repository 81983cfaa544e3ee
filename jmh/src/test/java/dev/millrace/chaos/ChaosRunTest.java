package dev.millrace.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.oracle.LedgerVerdict;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChaosRunTest {
    @Test
    void shouldNameTopicsOfWhichHardlyAnyRecordCouldBeJudged() {
        Map<String, Long> expected = Map.of("many", 300L, "few", 299L);
        LedgerVerdict verdict = new LedgerVerdict(1_000, 600, 400, 0, 0, expected, Map.of(), Map.of(), List.of());

        assertThat(ChaosRun.tooFew(verdict, List.of("many", "few", "none")))
                .containsExactly(
                        "Only 299 acknowledged records of few could be judged, fewer than 300",
                        "Only 0 acknowledged records of none could be judged, fewer than 300");
    }
}
