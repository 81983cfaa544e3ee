package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.http.LogEvent;
import dev.millrace.mirror.http.StatusServer;
import dev.millrace.mirror.status.MirrorState;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.support.Statuses;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class StatusCommandTest {
    private static final LogEvent GAP = new LogEvent(1_700_000_000_000L, "WARN", "Gap in topic \u00e4 \"x\": 1");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldPrintWhatTheMirrorDoes() {
        MirrorStatus status = Statuses.running(List.of(
                Statuses.partition("orders", 1, true, 3, null),
                Statuses.partition("orders", 2, true, 70_000, StallCause.TARGET_SILENT),
                Statuses.partition("gone", 3, false, -1, null)));

        assertThat(execute(status)).isZero();
        assertThat(out.toString().lines().map(line -> line.replaceAll(" +", " ").strip()))
                .startsWith("running, ready", "old:9092 -> new:9092, group mirror, mode auto, resume exact, up 13 s")
                .containsSubsequence(
                        "orders-2 2 0 70,000 70,000 1 target-silent",
                        "orders-1 1 0 3 3 1",
                        "all 100 0 27 20",
                        "At the rate of the last minute it has caught up in 90 s.",
                        "4.0 kB in whole batches were read from the source, and 4.5 kB written to the target, compressed"
                                + " as they are there.",
                        "mirror-0: in the group, 2 partitions, polled 0.5 s ago",
                        "2023-11-14T22:13:20Z WARN Gap in topic \u00e4 \"x\": 1")
                .noneMatch(line -> line.contains("gone"));
    }

    @Test
    void shouldPrintWhatIsPausedAndThrottled() {
        TopicControls controls = new TopicControls();
        controls.pause(Optional.of(Pattern.compile("orders")));
        controls.throttle(Optional.of(Pattern.compile("logs")), 10_000_000);

        assertThat(execute(Statuses.running(
                        controls.state(),
                        List.of(
                                Statuses.partition("orders", 1, true, 3, null),
                                Statuses.partition("logs", 2, true, 2, null)))))
                .isZero();
        assertThat(out.toString().lines().map(line -> line.replaceAll(" +", " ").strip()))
                .containsSubsequence(
                        "running, ready",
                        "paused: orders; throttle: 10 MB/s for each of logs",
                        "orders-1 1 0 3 3 1 paused",
                        "logs-2 2 0 2 2 1 at most 10 MB/s");
    }

    @Test
    void shouldEndWith1WhenTheMirrorIsNotReady() {
        assertThat(execute(Statuses.of(MirrorState.STARTING, "", "The source does not answer", List.of())))
                .isEqualTo(1);
        assertThat(out.toString()).startsWith("starting, not ready: The source does not answer");
    }

    @Test
    void shouldEndWith1WhenNobodyAnswers() {
        assertThat(execute("127.0.0.1:1")).isEqualTo(1);
        assertThat(err.toString())
                .contains("mirror status: http://127.0.0.1:1/status does not answer", "Nothing listens there")
                .doesNotContain("Exception");
    }

    private int execute(MirrorStatus status) {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (StatusServer server = StatusServer.start(
                anyPort,
                new StatusServer.Shown(() -> status, () -> List.of(GAP), new TopicControls()),
                StatusServer.Access.LOCAL)) {
            return execute(URI.create(server.url()).getAuthority());
        }
    }

    private int execute(String address) {
        CommandLine main = Main.commandLine((stop, left) -> {})
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        return Main.execute(main, "status", address);
    }
}
