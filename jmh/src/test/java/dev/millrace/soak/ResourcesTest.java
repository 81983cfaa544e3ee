package dev.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResourcesTest {
    private static final int FILES = 100;

    @Test
    void shouldFindAThreadABeanAndFilesThatAreLeft(@TempDir Path folder) throws Exception {
        // given
        Resources before = Resources.now();
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName bean = new ObjectName("kafka.producer:type=producer-metrics,client-id=left");
        CountDownLatch end = new CountDownLatch(1);
        List<InputStream> files = new ArrayList<>();
        try {
            // when
            Thread thread = new Thread(() -> await(end), "kafka-producer-network-thread | left");
            thread.start();
            server.registerMBean(new StandardMBean(end::getCount, Left.class), bean);
            Path file = Files.createFile(folder.resolve("left"));
            for (int i = 0; i < FILES; i++) {
                files.add(Files.newInputStream(file));
            }

            // then
            Resources left = Resources.now().since(before);
            assertThat(left.threads()).containsExactly(thread);
            assertThat(left.beans()).containsExactly(bean);
            assertThat(left.files()).isBetween(FILES / 2L, 2L * FILES); // the JVM has files of its own
        } finally {
            end.countDown();
            for (InputStream file : files) {
                file.close();
            }
            server.unregisterMBean(bean);
        }
    }

    /** An attribute, as a metric is one. */
    public interface Left {
        long getCount();
    }

    private static void await(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
