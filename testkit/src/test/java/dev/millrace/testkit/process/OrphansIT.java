package dev.millrace.testkit.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.Clients;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.io.BufferedReader;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nothing outlives the JVM that started a cluster, in whichever way it ends. */
@Tag("thorough")
class OrphansIT {
    private static final Duration END_TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private Path temp;

    @ParameterizedTest
    @CsvSource({"KILL, false", "KILL, true", "INT, true", "TERM, false"})
    void shouldLeaveNoProcessAndNoFileWhenParentGetsSignal(String signal, boolean brokerIsPaused) throws Exception {
        assumeThat(signal.equals("INT") && interruptIsIgnored())
                .as("whoever started this build has its children ignore Ctrl-C")
                .isFalse();
        Process parent = startParent(brokerIsPaused);
        List<ProcessHandle> children = parent.descendants().toList();
        assertThat(children).as("a broker, a stub, and a reaper for each").hasSize(4);
        assertThat(temp).isNotEmptyDirectory();

        // A terminal's Ctrl-C goes to all processes at once.
        signal(
                signal,
                signal.equals("INT")
                        ? Stream.concat(Stream.of(parent.toHandle()), children.stream())
                                .toList()
                        : List.of(parent.toHandle()));

        Await.until("the parent has ended", END_TIMEOUT, () -> !parent.isAlive());
        Await.until(
                "all children have ended", END_TIMEOUT, () -> children.stream().noneMatch(OrphansIT::runs));
        Await.until("all files are gone", END_TIMEOUT, () -> isEmpty(temp));
    }

    @Test
    void shouldServeOnWhenBrokersGetTheInterruptOfTheTerminal() throws Exception {
        try (KafkaCluster cluster = KafkaCluster.builder().start()) {
            cluster.createTopic("interrupted", 1, 1, Map.of());

            signal("INT", ProcessHandle.current().descendants().toList());

            Clients.produce(cluster.clientConfig(), "interrupted", "hello");
            assertThat(Clients.consume(cluster.clientConfig(), "interrupted", 1))
                    .containsExactly("hello");
        }
    }

    /** Starts a JVM with a running cluster and stub broker; see {@link OrphansParent}. */
    private Process startParent(boolean brokerIsPaused) throws IOException {
        Process parent = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + temp,
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        OrphansParent.class.getName(),
                        Boolean.toString(brokerIsPaused))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader output = parent.inputReader();
        assertThat(output.readLine()).startsWith(OrphansParent.READY);
        return parent;
    }

    private static void signal(String signal, List<ProcessHandle> processes) throws Exception {
        StringBuilder command = new StringBuilder("kill -" + signal);
        processes.forEach(process -> command.append(' ').append(process.pid()));
        new ProcessBuilder("/bin/sh", "-c", command.toString()).start().waitFor();
    }

    /** On a system where no process reaps orphans, ended ones stay in the list of processes. */
    private static boolean runs(ProcessHandle process) {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        try {
            return process.isAlive()
                    && !(Files.exists(status) && Files.readString(status).contains("State:\tZ"));
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isEmpty(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isEmpty();
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean interruptIsIgnored() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return false;
        }
        String mask = Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .map(line -> line.substring("SigIgn:".length()).strip())
                .findFirst()
                .orElse("0");
        return new BigInteger(mask, 16).testBit(1); // SIGINT is signal 2, bits count from signal 1
    }
}
