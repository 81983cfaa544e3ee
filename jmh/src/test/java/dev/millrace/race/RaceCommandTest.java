package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class RaceCommandTest {
    @ParameterizedTest
    @CsvSource({
        "--threads=8;0, --threads 0",
        "--records=0, --records 0",
        "--rate=-1, --rate -1",
        "--compression=zip, 'zip: only none, gzip, snappy, lz4, zstd'",
        "--acks=0, 'only all, 1'",
        "--keys --unkeyed, exclude each other",
        "--own --keys, exclude each other",
        "--own --threads=8;12, '--partitions 32 is no multiple of --threads 12'",
        "--producers=millrace;millrace, named twice",
        "--brokers=fake, 'only stub, real'",
        "--seconds=5 --records=5, exclude each other",
        "--seconds=-1, --seconds -1",
        "--warmup=0, --warmup 0",
        "--linger-ms=-1, --linger-ms -1",
        "--batch-size=0, --batch-size 0",
        "--buffer-memory=1024, '--buffer-memory 1024: at least --batch-size, 65536, is needed'",
        "--syscalls --seconds=5, exclude each other",
        "--first-record --rate=5, exclude each other",
        "--paired=-1, --paired -1",
        "--paired=5 --syscalls, exclude each other",
        "--everyday=young --paired=5, 'case young needs a new JVM for each run: give --rounds, not --paired'",
        "--everyday=old, 'old: only callbacks, young'",
        "--everyday=young --syscalls, case young: --syscalls",
        "--speed=high, Unknown option"
    })
    void shouldSayInOneLineWhatIsWrongWithAnOption(String options, String message) {
        StringWriter errors = new StringWriter();

        int exitCode = RaceCommand.commandLine()
                .setErr(new PrintWriter(errors))
                .execute(options.replace(';', ',').split(" "));

        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString().lines())
                .singleElement()
                .asString()
                .startsWith("race: ")
                .contains(message);
    }

    @ParameterizedTest
    @CsvSource({"--paired=5, 1", "--paired=5 --seconds=3, 3", "--paired=5 --records=9, 0", "--rounds=5, 0"})
    void shouldGiveTurnsOfASecondUnlessTheirLengthIsGiven(String options, long seconds) {
        RaceCommand command = new RaceCommand();
        new CommandLine(command).parseArgs(options.split(" "));

        assertThat(command.racerArguments("millrace", 1).whole("seconds")).isEqualTo(seconds);
    }

    @Test
    void shouldPassIoThreadsOnlyToMillrace() {
        RaceCommand command = new RaceCommand();
        new CommandLine(command).parseArgs("--io-threads", "2", "--acks", "1", "--keys", "--buffer-memory", "8388608");

        assertThat(command.racerArguments("millrace", 8).config()).containsEntry("millrace.io.threads", "2");
        assertThat(command.racerArguments("kafka-4.4.0", 8).config())
                .containsEntry("enable.idempotence", "false")
                .containsEntry("buffer.memory", "8388608")
                .doesNotContainKey("millrace.io.threads");
        assertThat(command.racerArguments("kafka-4.4.0", 8).text("partition_choice"))
                .isEqualTo("key");
    }
}
