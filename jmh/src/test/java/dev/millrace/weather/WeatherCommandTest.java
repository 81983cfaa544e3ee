package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeatherCommandTest {
    @ParameterizedTest
    @CsvSource({
        "--minutes=0, '--minutes is 0.0, must be more than 0'",
        "--climates=0, '--climates is 0, must be 1 or more'",
        "--mode=fast, '--mode fast: only auto, batches, records, consumer are possible'",
        "--resume=never, '--resume never: only exact, exactly-once, at-least-once are possible'",
        "--seed=x, '--seed'"
    })
    void shouldSayInOneLineWhatIsWrongWithAnOption(String option, String message) {
        assertThat(errorsOf(option)).contains(message);
    }

    @ParameterizedTest
    @CsvSource({"exact", "exactly-once"})
    void shouldRefuseAResumeThatConsumersDoNotHave(String resume) {
        assertThat(errorsOf("--mode=consumer", "--resume=" + resume))
                .contains("is not possible with --resume " + resume);
    }

    private static String errorsOf(String... options) {
        StringWriter errors = new StringWriter();
        String[] all = new String[options.length + 1];
        System.arraycopy(options, 0, all, 0, options.length);
        all[options.length] = "--mirror=mirror";

        int exitCode =
                WeatherCommand.commandLine().setErr(new PrintWriter(errors)).execute(all);

        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString().lines()).singleElement().asString().startsWith("weather: ");
        return errors.toString();
    }
}
