package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.CommandProcess;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One group of Kafka's own tests; {@code client/conformance} runs the others by hand. */
@Tag("thorough")
@Tag("long")
class ConformanceIT {
    private static final Duration LONGEST = Duration.ofMinutes(15);

    @Test
    void shouldPassKafkasOwnTestsOfTheProducer() throws Exception {
        List<String> command = List.of("env", "AGENT=" + AgentRun.AGENT, "../client/conformance", "producer");
        try (ChildFolder folder = ChildFolder.create("conformance");
                CommandProcess tests = CommandProcess.start(folder, command)) {
            int exitCode = tests.awaitExit(LONGEST);

            assertThat(exitCode).as(tests.output()).isZero();
        }
    }
}
