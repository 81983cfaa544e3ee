package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class PerfStatTest {
    @Test
    void shouldAddUpTheIntervalsAndTellWakeUpsFromOtherWrites() {
        assertThat(PerfStat.parse("""
                        # started on Sat Nov 21 23:30:00 2026

                             0.100112233,1000,,raw_syscalls:sys_enter,21457093,100.00,,
                             0.100112233,400,,syscalls:sys_enter_futex,21457093,100.00,,
                             0.100112233,30,,syscalls:sys_enter_write,21457093,100.00,,
                             0.100112233,70,,syscalls:sys_enter_write,21457093,100.00,,
                             0.200223344,100,,raw_syscalls:sys_enter,21457093,100.00,,
                             0.200223344,50,,syscalls:sys_enter_futex,21457093,100.00,,
                             0.200223344,<not counted>,,syscalls:sys_enter_write,0,100.00,,
                             0.200223344,7,,syscalls:sys_enter_write,21457093,100.00,,
                        """.lines()))
                .isEqualTo(Map.of("futex", 450L, "wake-up", 30L, "write", 77L, "other", 543L));
    }
}
