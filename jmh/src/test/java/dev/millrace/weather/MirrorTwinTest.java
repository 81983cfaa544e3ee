package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code testkit/weather --twin} shows that each is found, which takes minutes. */
class MirrorTwinTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void shouldStillFindItsMistakeToMake(MirrorTwin twin) throws Exception {
        Path jar = folder.resolve("twin.jar");

        twin.writeAgent(jar);

        assertThat(Files.size(jar)).isPositive();
    }

    @Test
    void shouldBreakEveryRule() {
        assertThat(Stream.of(MirrorTwin.values()).map(MirrorTwin::rule)).contains(Rule.values());
    }

    @Test
    void shouldBeOnThePageWithEveryRule() throws Exception {
        String page = Files.readString(Path.of("..", "docs", "evidence.md"));

        for (MirrorTwin twin : MirrorTwin.values()) {
            assertThat(page)
                    .contains("| `" + twin.rule() + "` |")
                    .containsPattern("`" + twin + "`[^|]*\\| [0-9; ]+ \\|");
        }
    }
}
