package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FootprintTest {
    @Test
    void shouldCountFilesThatStayOpen() throws Exception {
        Footprint before = here();
        List<Selector> open = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                open.add(Selector.open());
            }

            assertThat(here().moreThan(before)).isGreaterThan(100);
        } finally {
            for (Selector selector : open) {
                selector.close();
            }
        }
    }

    @Test
    void shouldAllowWhatMorePartitionsNeed() {
        Footprint before = new Footprint(40, 50);

        assertThat(new Footprint(70, 80).moreThan(before)).isZero();
        assertThat(new Footprint(72, 81).moreThan(before)).isEqualTo(3);
        assertThat(new Footprint(10, 10).moreThan(before)).isZero();
    }

    private static Footprint here() {
        return Footprint.of(ProcessHandle.current().pid());
    }
}
