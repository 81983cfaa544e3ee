package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.CopyMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MirrorOptionsTest {
    private static final List<String> NEEDED = List.of("--topics=x", "--source=a:1", "--target=b:1");

    @TempDir
    private Path folder;

    @Test
    void shouldFetchByItselfUnlessSomethingNeedsRecords() {
        assertThat(mode()).isEqualTo(CopyMode.AUTO);
        assertThat(mode("--mode=batches")).isEqualTo(CopyMode.BATCHES);
        assertThat(mode("--producer=stock")).isEqualTo(CopyMode.CONSUMER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"consumer", "producer"})
    void shouldPollConsumersIfThereAreInterceptors(String client) throws IOException {
        Path file = Files.writeString(folder.resolve("client.properties"), "interceptor.classes=com.acme.Mine");

        assertThat(mode("--" + client + ".config=" + file)).isEqualTo(CopyMode.CONSUMER);
    }

    private static CopyMode mode(String... more) {
        String[] args = Stream.concat(NEEDED.stream(), Stream.of(more)).toArray(String[]::new);
        return CommandLine.populateCommand(new MirrorOptions(), args).toConfig().mode();
    }
}
