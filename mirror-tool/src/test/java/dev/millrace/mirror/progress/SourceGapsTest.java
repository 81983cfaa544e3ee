package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.GapPolicy;
import dev.millrace.mirror.run.JmxBeans;
import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class SourceGapsTest {
    private static final TopicPartition TP = new TopicPartition("orders", 3);

    @Test
    void shouldCountWhatIsSkippedAndGoOn() {
        SourceGaps gaps = new SourceGaps(GapPolicy.GO_ON);
        assertThat(gaps.onMove(TP, 40, 60, "deleted")).isTrue();
        assertThat(gaps.onMove(TP, 100, 101, "deleted")).isTrue();
        assertThat(gaps.onMove(TP, 200, 150, "truncated")).isTrue();

        assertThat(gaps.getGaps()).isEqualTo(2);
        assertThat(gaps.getRecordsSkipped()).isEqualTo(21);
        assertThat(gaps.getTruncations()).isEqualTo(1);
        assertThat(gaps.getPartitionsStopped()).isZero();
    }

    @Test
    void shouldStopThePartitionAndSkipNothingWhereThatIsThePolicy() {
        SourceGaps gaps = new SourceGaps(GapPolicy.STOP_PARTITION);
        assertThat(gaps.onMove(TP, 40, 60, "deleted")).isFalse();

        assertThat(gaps.getGaps()).isEqualTo(1);
        assertThat(gaps.getRecordsSkipped()).isZero();
        assertThat(gaps.getPartitionsStopped()).isEqualTo(1);
    }

    @Test
    void shouldShowTheCountsInJmxUntilItIsClosed() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("dev.millrace.mirror:type=SourceGaps,group=\"a, group\"");
        SourceGaps gaps = new SourceGaps(GapPolicy.GO_ON);
        try (JmxBeans jmx = new JmxBeans("a, group")) {
            jmx.show("SourceGaps", gaps);
            boolean unused = gaps.onMove(TP, 40, 60, "deleted");

            assertThat(server.getAttribute(name, "RecordsSkipped")).isEqualTo(20L);
            assertThat(server.getAttribute(name, "Gaps")).isEqualTo(1L);
        }
        assertThat(server.isRegistered(name)).isFalse();
    }
}
