package dev.millrace.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChaosCommandTest {
    @ParameterizedTest
    @CsvSource({
        "--minutes=0, '--minutes is 0.0, must be more than 0'",
        "--minutes=ten, '--minutes'",
        "--seed=x, '--seed'",
        "--threads=8, Unknown option"
    })
    void shouldSayInOneLineWhatIsWrongWithAnOption(String option, String message) {
        StringWriter errors = new StringWriter();

        int exitCode =
                ChaosCommand.commandLine().setErr(new PrintWriter(errors)).execute(option);

        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString().lines())
                .singleElement()
                .asString()
                .startsWith("chaos: ")
                .contains(message);
    }
}
