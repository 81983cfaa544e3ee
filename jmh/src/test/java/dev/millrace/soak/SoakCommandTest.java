package dev.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SoakCommandTest {
    @ParameterizedTest
    @CsvSource({
        "--minutes=0, '--minutes is 0.0, must be more than 0'",
        "--cycles=99, '--cycles is 99, must be 100 or more'",
        "--rate=0, '--rate is 0, must be more than 0'",
        "--seed=1, Unknown option"
    })
    void shouldSayInOneLineWhatIsWrongWithAnOption(String option, String message) {
        StringWriter errors = new StringWriter();

        int exitCode = SoakCommand.commandLine().setErr(new PrintWriter(errors)).execute(option);

        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString().lines())
                .singleElement()
                .asString()
                .startsWith("soak: ")
                .contains(message);
    }
}
