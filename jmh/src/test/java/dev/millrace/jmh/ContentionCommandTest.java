package dev.millrace.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ContentionCommandTest {
    private final StringWriter errors = new StringWriter();
    private final CommandLine command = ContentionCommand.commandLine().setErr(new PrintWriter(errors, true));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--threads=0",
                "--threads=many",
                "--forks=0",
                "--iterations=0",
                "--seconds=0",
                "--param=topics",
                "--cores=2",
                "--cores=1",
                "--cores=0,1,2",
                "--cores=1,100000",
                "--cores=1,2 Metadata",
                "--cores=1,2 --threads=32",
                "--cores=1,2 --param=topics=1",
                "--cores=1,2 --json=never-written.json",
                "--unknown"
            })
    void shouldSayInOneLineWhatIsWrongWithAnOption(String option) {
        int exitCode = command.execute(option.split(" ", -1));

        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString().lines()).hasSize(1).first().asString().startsWith("jmh/contention: ");
    }

    @Test
    void shouldPrintItsHelp() {
        StringWriter help = new StringWriter();
        command.setOut(new PrintWriter(help, true));

        assertThat(command.execute("--help")).isZero();
        assertThat(help.toString()).contains("99.9 %", "--threads", "--json");
    }
}
