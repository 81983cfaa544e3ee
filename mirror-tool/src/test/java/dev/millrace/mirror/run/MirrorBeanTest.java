package dev.millrace.mirror.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.status.MirrorMXBean;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.support.Statuses;
import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.JMX;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class MirrorBeanTest {
    @Test
    void shouldShowInJmxWhatTheMirrorDoes() throws Exception {
        MirrorStatus status = Statuses.running(List.of(
                Statuses.partition("a", 1, true, 3, StallCause.IN_FLIGHT_FULL),
                Statuses.partition("a", 2, true, -1, null),
                Statuses.partition("b", 3, false, -1, null)));
        ObjectName name = new ObjectName("dev.millrace.mirror:type=Mirror,group=\"seen\"");
        try (JmxBeans jmx = new JmxBeans("seen")) {
            jmx.show("Mirror", new MirrorBean(() -> status));
            MirrorMXBean bean =
                    JMX.newMXBeanProxy(ManagementFactory.getPlatformMBeanServer(), name, MirrorMXBean.class);

            assertThat(bean.getState()).isEqualTo("running");
            assertThat(bean.getObstacle()).isEmpty();
            assertThat(bean.isHealthy()).isTrue();
            assertThat(bean.isReady()).isTrue();
            assertThat(bean.getRecords()).isEqualTo(100);
            assertThat(bean.getBytes()).isEqualTo(60);
            assertThat(bean.getFetchedBytes()).isEqualTo(4_000);
            assertThat(bean.getWrittenBytes()).isEqualTo(4_500);
            assertThat(bean.getInFlightRecords()).isEqualTo(20);
            assertThat(bean.getInFlightBytes()).isEqualTo(1_000);
            assertThat(bean.getLagRecords()).isEqualTo(27);
            assertThat(bean.isLagKnown()).isTrue();
            assertThat(bean.getLagSeconds()).isEqualTo(3);
            assertThat(bean.getCatchUpSeconds()).isEqualTo(90);
            assertThat(bean.getLagOfPartitions()).hasSize(1).containsEntry("a-1", 3L);
            assertThat(bean.getLatencyMedianSeconds()).isEqualTo(1);
            assertThat(bean.getLatency99thPercentileSeconds()).isEqualTo(1);
            assertThat(bean.getStalledPartitions()).hasSize(1).containsEntry("in-flight-full", 1L);
            assertThat(bean.getStallSeconds()).hasSize(1).containsEntry("in-flight-full", 1.5);
        }
    }
}
