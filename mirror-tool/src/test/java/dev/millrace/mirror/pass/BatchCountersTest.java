package dev.millrace.mirror.pass;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class BatchCountersTest {
    @Test
    void shouldCountEachReasonForItself() {
        BatchCounters counters = new BatchCounters();
        counters.onPassed();
        counters.onSkipped();
        counters.onSkipped();
        List<OpenReason> reasons = List.of(OpenReason.values());
        for (int i = 0; i < reasons.size(); i++) {
            for (int j = 0; j <= i; j++) {
                counters.onOpened(reasons.get(i));
            }
        }

        assertThat(counters.passed()).isEqualTo(1);
        assertThat(counters.skipped()).isEqualTo(2);
        for (int i = 0; i < reasons.size(); i++) {
            assertThat(counters.opened(reasons.get(i))).isEqualTo(i + 1);
        }
    }
}
