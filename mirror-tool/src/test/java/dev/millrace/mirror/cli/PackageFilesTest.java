package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.mirror.support.Programs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
                .contains(".B \\-\\-consumer.config=FILE\nProperties file for the consumers.\n")
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
            mirror run --mm2-c        | --mm2-checkpoints
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

    /** By a zsh with a terminal, in which a person types and presses the key. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            mirror ta                 | take-over
            mirror run --mm2-c        | --mm2-checkpoints
            mirror status --vers      | --version
            """)
    void shouldCompleteCommandsAndOptionsInZsh(String typed, String expected) throws Exception {
        Optional<Path> zsh = Programs.find("zsh");
        assumeTrue(zsh.isPresent(), "This machine has no zsh on its PATH");
        Files.writeString(folder.resolve(".zshrc"), """
                PS1='ready> '
                unsetopt prompt_cr prompt_sp
                source "$ZDOTDIR/share/bash-completion/completions/mirror"
                """);
        Path script = Files.writeString(folder.resolve("type.zsh"), """
                zmodload zsh/zpty
                zpty terminal zsh -i
                zpty -r -m terminal begun '*ready> '
                zpty -n -w terminal "$1"$'\\t'
                zpty -r -m terminal seen "*$2*"
                """);
        ProcessBuilder typing = new ProcessBuilder(zsh.get().toString(), "-f", script.toString(), typed, expected);
        typing.environment().put("ZDOTDIR", folder.toString());
        typing.environment().put("TERM", "dumb");
        Process terminal = typing.redirectErrorStream(true)
                .redirectOutput(folder.resolve("seen").toFile())
                .start();
        try {
            assertThat(terminal.waitFor(60, TimeUnit.SECONDS))
                    .as("%s becomes %s", typed, expected)
                    .isTrue();
            assertThat(terminal.exitValue())
                    .as(Files.readString(folder.resolve("seen")))
                    .isZero();
        } finally {
            terminal.destroyForcibly();
        }
    }

    private String page(String name) throws IOException {
        return Files.readString(folder.resolve("share/man/man1").resolve(name + ".1"));
    }
}
