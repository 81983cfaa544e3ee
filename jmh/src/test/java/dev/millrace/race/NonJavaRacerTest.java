package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NonJavaRacerTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    private final List<String> notices = new ArrayList<>();

    @Test
    void shouldFindEveryFolderThatHasABuildScript() throws IOException {
        script("zig", "");
        script("ada", "");
        Files.createFile(folder.resolve("clock-reads.c"));

        assertThat(NonJavaRacer.names(folder)).containsExactly("ada", "zig");
    }

    @Test
    void shouldPrintTheReasonInOneLineWhenItCannotBeBuiltHere() throws IOException {
        script("zig", "echo there is no Zig; exit 3");

        assertThat(build("zig")).isEmpty();

        assertThat(notices).containsExactly("zig skipped: there is no Zig");
    }

    @Test
    void shouldFailWithCompilerOutputWhenProgramIsWrong() throws IOException {
        script("zig", "echo line 7: no >&2; exit 1");

        assertThatThrownBy(() -> build("zig"))
                .isInstanceOf(RaceException.class)
                .hasMessage("zig cannot be built:\nline 7: no");
    }

    @Test
    void shouldPassArgumentsAndReturnExitCodeAndOutput() throws IOException {
        script("zig", "printf '#!/bin/sh\\necho \"$@\"; exit 5' > $1; chmod +x $1; echo 0.9");

        NonJavaRacer racer = build("zig").orElseThrow();
        RacerProgram.Ended ended = racer.run(new RacerArguments("size=7", "partition_choice=key"), PATIENCE);

        assertThat(racer.name()).isEqualTo("zig-0.9");
        assertThat(ended).isEqualTo(new RacerProgram.Ended(5, "partition_choice=key size=7\n"));
        assertThat(notices).isEmpty();
    }

    @Test
    void shouldFailWhenItDoesNotEndInTime() throws IOException {
        script("zig", "printf '#!/bin/sh\\nread line' > $1; chmod +x $1; echo 0.9");

        NonJavaRacer racer = build("zig").orElseThrow();

        assertThatThrownBy(() -> racer.run(new RacerArguments(), Duration.ZERO))
                .hasMessageContaining("zig-0.9 has not ended");
    }

    private Optional<NonJavaRacer> build(String name) {
        return NonJavaRacer.build(name, folder, folder.resolve("target"), notices::add);
    }

    private void script(String name, String body) throws IOException {
        Path script = Files.createDirectory(folder.resolve(name)).resolve("build");
        Files.writeString(script, "#!/bin/sh\n" + body + "\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
    }
}
