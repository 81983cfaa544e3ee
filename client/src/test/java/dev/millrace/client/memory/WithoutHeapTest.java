package dev.millrace.client.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of buffers and of waiting threads when the heap is used up: nobody is lost, and nothing leaks. */
@Timeout(120)
class WithoutHeapTest {
    @Test
    void shouldLoseNeitherBuffersNorWaitersWhenTheHeapIsUsedUp() throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx8m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        WithoutHeap.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String printed = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(printed.trim()).isEqualTo(WithoutHeap.ALL_IS_WELL);
        } finally {
            child.destroyForcibly().waitFor();
        }
    }
}
