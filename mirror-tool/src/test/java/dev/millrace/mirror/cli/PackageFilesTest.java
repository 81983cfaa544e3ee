package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

class PackageFilesTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void writeFiles() throws IOException {
        PackageFiles.main(new String[] {folder.toString(), "1.2.3"});
    }

    @Test
    void shouldWriteAPageForEachCommandWithAllItsOptions() throws IOException {
        CommandLine main = Main.commandLine((stop, left) -> {});
        assertThat(page("mirror"))
                .startsWith(".TH mirror 1 \"\" \"mirror 1.2.3\"")
                .contains("\nmirror \\- Mirrors topics", ".B run\nMirrors topics from one cluster to another until")
                .contains("mirror\\-take\\-over(1)");
        for (CommandLine command : main.getSubcommands().values()) {
            String page = page("mirror-" + command.getCommandName());
            for (OptionSpec option : command.getCommandSpec().options()) {
                assertThat(page).contains(option.longestName().replace("-", "\\-"));
            }
        }
    }

    @Test
    void shouldSayInThePageWhatTheHelpSays() throws IOException {
        assertThat(page("mirror-plan"))
                .contains("\nPrints what \\(aqmirror run\\(aq with the same options would create, change and mirror.\n")
                .contains(".B \\-\\-threads=N\nConsumer threads; they share one producer. Default: 1.\n")
                .contains(".B \\-h, \\-\\-help\nShow this help message and exit.\n")
                .contains(".SH EXIT STATUS\n.TP\n.B 0\nthe mirror could do all of it\n.TP\n.B 1\n")
                .doesNotContain("${", "%n");
        assertThat(page("mirror-status")).contains(".B [HOST:]PORT\nWhere the mirror listens");
    }

    @Test
    void shouldLetNoTextBecomeARequestToRoff() {
        CommandSpec command = CommandSpec.create().name("x");
        command.usageMessage().description(".so a file%n'quoted' \\d+ 100%%");

        assertThat(ManPage.of(command, "1")).contains("\\&.so a file\n\\(aqquoted\\(aq \\ed+ 100%\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            mirror ta                 | take-over
            mirror run --mm           | --mm2-checkpoints
            mirror status --vers      | --version
            """)
    void shouldCompleteCommandsAndOptionsInBash(String typed, String expected) throws Exception {
        Path script = folder.resolve("share/bash-completion/completions/mirror");
        Process bash = new ProcessBuilder(
                        "bash",
                        "-c",
                        // compopt is bash's own, for the time while a user waits for the completion.
                        "source \"$0\"; compopt() { :; }; COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1));"
                                + " _complete_mirror; echo \"${COMPREPLY[@]}\"",
                        script.toString(),
                        typed)
                .redirectErrorStream(true)
                .start();

        String offered = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(List.of(offered.strip().split("\\s+"))).containsExactly(expected);
        assertThat(bash.waitFor()).isZero();
    }

    private String page(String name) throws IOException {
        return Files.readString(folder.resolve("share/man/man1").resolve(name + ".1"));
    }
}
