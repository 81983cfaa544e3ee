package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class StraceTest {
    @Test
    void shouldReadCallsOfEachLineExceptTheSum() {
        assertThat(Strace.parse("""
                        % time     seconds  usecs/call     calls    errors syscall
                        ------ ----------- ----------- --------- --------- ----------------
                         98.02    0.123456         123      1003        12 futex
                          1.98    0.002500           5       500           epoll_wait
                        ------ ----------- ----------- --------- --------- ----------------
                        100.00    0.125956          83      1503        12 total
                        """)).isEqualTo(Map.of("futex", 1003L, "epoll_wait", 500L));
    }
}
