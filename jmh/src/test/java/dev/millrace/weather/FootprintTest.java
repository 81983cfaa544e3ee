package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.ObjectName;
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
    void shouldCountBeansThatStayAndMemoryThatIsKept() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer(); // it brings some beans of its own
        Footprint before = here();
        byte[] kept = new byte[200_000_000];
        List<ObjectName> beans = new ArrayList<>();
        try {
            for (int i = 0; i < 400; i++) {
                ObjectName name = new ObjectName("footprint:type=bean,number=" + i);
                server.registerMBean(new Named(), name);
                beans.add(name);
            }

            Footprint now = here();

            assertThat(now.beans() - before.beans()).isGreaterThanOrEqualTo(400);
            assertThat(now.megabytes() - before.megabytes()).isBetween(190, 300);
            assertThat(now.moreThan(before)).isGreaterThan(190);
            assertThat(kept).hasSize(200_000_000);
        } finally {
            for (ObjectName name : beans) {
                server.unregisterMBean(name);
            }
        }
    }

    @Test
    void shouldAllowWhatMorePartitionsNeed() {
        Footprint before = new Footprint(40, 50, 100, 20);

        assertThat(new Footprint(70, 80, 400, 120).moreThan(before)).isZero();
        assertThat(new Footprint(72, 81, 404, 128).moreThan(before)).isEqualTo(2 + 1 + 4 + 8);
        assertThat(new Footprint(10, 10, 10, 10).moreThan(before)).isZero();
    }

    /** What the beans show: nothing. */
    public interface NamedMBean {}

    /** A bean. */
    public static final class Named implements NamedMBean {}

    private static Footprint here() {
        return Footprint.of(ProcessHandle.current().pid());
    }
}
