package dev.millrace.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ProfileCommandTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--threads 0            | --threads 0: at least 1 is needed",
                "--records 0            | --records 0: at least 1 is needed",
                "--rate 5               | Unknown option: '--rate'",
                "-- --acks 2            | --acks 2: only all, 1 are possible",
                "-- --syscalls          | --syscalls: only race can do that",
                "--modes cpu,heap       | 'heap'",
            })
    void shouldSayInOneLineWhatIsWrongWithTheCommandLine(String arguments, String message) {
        StringWriter errors = new StringWriter();
        CommandLine command = ProfileCommand.commandLine().setErr(new PrintWriter(errors, true));

        int exitCode = command.execute(arguments.strip().split(" "));

        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString().lines())
                .singleElement()
                .asString()
                .startsWith("profile: ")
                .contains(message)
                .endsWith("(see profile --help)");
    }
}
