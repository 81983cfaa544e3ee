package dev.millrace.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProgramsCommandTest {
    @ParameterizedTest
    @CsvSource({
        "--pairs=9, '--pairs 9: at least 10 are needed'",
        "--records=0, '--records 0: at least 1 is needed'",
        "kafka-console-producer, 'only producer-performance, mirror-maker-2, one-record are possible'"
    })
    void shouldSayInOneLineWhatIsWrong(String argument, String message) {
        StringWriter errors = new StringWriter();

        int exitCode =
                ProgramsCommand.commandLine().setErr(new PrintWriter(errors)).execute("--agent=agent.jar", argument);

        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString().lines())
                .singleElement()
                .asString()
                .startsWith("programs: ")
                .contains(message);
    }
}
