package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.http.AccessToken;
import dev.millrace.mirror.http.StatusServer;
import dev.millrace.mirror.support.Statuses;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands that change what a running mirror copies. */
class PauseCommandTest {
    private static final String TOKEN = "0123456789abcdef";

    private final TopicControls controls = new TopicControls();
    private final StatusServer server = StatusServer.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            new StatusServer.Shown(() -> Statuses.running(Statuses.partitions("orders", 3)), List::of, controls),
            new StatusServer.Access(Optional.of(AccessToken.of(TOKEN)), Set.of()));
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    private Path token;

    @BeforeEach
    void writeToken() throws IOException {
        token = Files.writeString(folder.resolve("token"), TOKEN + "\n");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void shouldPauseResumeAndThrottleEachMirrorThatIsNamed() {
        String address = URI.create(server.url()).getAuthority();

        assertThat(execute("pause", address, address, "--topics", "orders, logs-.*"))
                .isZero();
        assertThat(out.toString().lines())
                .hasSize(2)
                .allMatch(line -> line.equals(
                        address + ": Paused topics orders|logs-.*; in this process these are 3 partitions of orders"));
        assertThat(controls.state().isPaused("logs-1")).isTrue();
        assertThat(execute("resume", address)).isZero();
        assertThat(controls.state().isPaused("logs-1")).isFalse();
        assertThat(execute("throttle", address, "--bytes-per-second", "10MB")).isZero();
        assertThat(controls.state().throttleOfAll()).isEqualTo(10_000_000);
        assertThat(execute("throttle", address, "--bytes-per-second", "none")).isZero();
        assertThat(controls.state().throttleOfAll()).isZero();
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void shouldEndWith1AndPrintWhyWhenTheMirrorRefuses() throws IOException {
        Files.writeString(token, "another-token-of-16");

        assertThat(execute("pause", URI.create(server.url()).getAuthority())).isEqualTo(1);
        assertThat(err.toString()).contains("This is not the mirror's token").doesNotContain("another", TOKEN);
    }

    @Test
    void shouldEndWith1WhenNobodyAnswers() {
        assertThat(execute("pause", "127.0.0.1:1")).isEqualTo(1);
        assertThat(err.toString()).contains("http://127.0.0.1:1/pause does not answer");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
                    pause 1 --topics (              ; --topics '(': Unclosed group
                    pause                           ; Missing required parameter
                    throttle 1                      ; Missing required option: '--bytes-per-second=RATE'
                    throttle 1 --bytes-per-second 0 ; to copy nothing, pause the topics
                    throttle 1 --bytes-per-second 9223372036854775807 ; from 1KB to 1000GB
                    """)
    void shouldEndWith2WhenTheCommandLineIsWrong(String line, String message) {
        assertThat(execute(line.split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void shouldNameTheFileThatHasNoToken() throws IOException {
        Files.writeString(token, "short");
        assertThat(execute("pause", "1")).isEqualTo(2);
        assertThat(err.toString())
                .contains("--http-token-file " + token + ": it has no token")
                .doesNotContain("short");

        Files.delete(token);
        assertThat(execute("pause", "1")).isEqualTo(2);
        assertThat(err.toString()).contains("--http-token-file " + token + ": there is no such file");
    }

    private int execute(String... line) {
        List<String> args = new ArrayList<>(List.of(line));
        args.add("--http-token-file=" + token);
        var main = Main.commandLine((stop, left) -> {})
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        return Main.execute(main, args.toArray(String[]::new));
    }
}
