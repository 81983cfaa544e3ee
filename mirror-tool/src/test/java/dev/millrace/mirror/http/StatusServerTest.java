package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.status.MirrorState;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.support.Statuses;
import dev.millrace.mirror.text.MirrorException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatusServerTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private static final List<LogEvent> EVENTS =
            List.of(new LogEvent(1_700_000_000_000L, "WARN", "Gap in topic a, \"x\" \u00e4"));

    /** Shorter than the server waits for what a slow client has to send. */
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(5);

    private MirrorStatus status = Statuses.running(Statuses.partitions("a", 2));
    private final StatusServer.Shown shown = new StatusServer.Shown(() -> status, () -> EVENTS, new TopicControls());
    private final StatusServer server = StatusServer.start(ANY_PORT, shown, StatusServer.Access.LOCAL);

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void shouldShowMetricsAsPrometheusReadsThem() throws Exception {
        HttpResponse<String> answer = send("GET", "metrics");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains("text/plain; version=0.0.4; charset=utf-8");
        assertThat(answer.body()).isEqualTo(MirrorMetrics.format(status));
    }

    @Test
    void shouldShowTheSameAsJson() throws Exception {
        status = Statuses.running(List.of(Statuses.partition("a", 1, true, -1, StallCause.STARTING)));
        HttpResponse<String> answer = send("GET", "status");

        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        assertThat(answer.body())
                .startsWith(
                        "{\"state\":\"running\",\"failure\":\"\",\"obstacle\":\"\",\"warning\":\"\",\"upSeconds\":12.5,")
                .contains("\"isLagKnown\":true,\"catchUpSeconds\":90.0,")
                .contains("\"latency\":{\"boundsMs\":[5,1000],\"counts\":[1,2,0]}")
                .contains(
                        "\"partitions\":[{\"name\":\"a-1\",\"isOwned\":true,\"records\":1,\"bytes\":10,\"inFlight\":1,"
                                + "\"lag\":null,\"lagSeconds\":null,\"stall\":\"starting\",\"topic\":\"a\","
                                + "\"isPaused\":false,\"throttle\":0}]")
                .endsWith("\"events\":[{\"atMs\":1700000000000,\"level\":\"WARN\","
                        + "\"text\":\"Gap in topic a, \\\"x\\\" \\u00e4\"}]}");
    }

    @Test
    void shouldShowAPageThatNeedsNothingElse() throws Exception {
        HttpResponse<String> answer = send("GET", "");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
        assertThat(answer.headers().firstValue("Content-Security-Policy").orElseThrow())
                .startsWith("default-src 'none';");
        assertThat(answer.body()).doesNotContain("src=", "innerHTML", "@import", "url(");
    }

    @Test
    void shouldBeHealthyAndReadyWhileAllPartitionsAreMirrored() throws Exception {
        assertThat(send("GET", "healthz").statusCode()).isEqualTo(200);
        assertThat(send("GET", "readyz").statusCode()).isEqualTo(200);
    }

    @Test
    void shouldSayWhyItIsNotReady() throws Exception {
        status = Statuses.of(MirrorState.STARTING, "", "The source cluster does not answer", List.of());

        assertThat(send("GET", "healthz").statusCode()).isEqualTo(200);
        assertThat(send("GET", "readyz").statusCode()).isEqualTo(503);
        assertThat(send("GET", "readyz").body()).isEqualTo("The source cluster does not answer\n");
    }

    @Test
    void shouldBeReadyAndWarnWhileACertificateIsAboutToExpire() throws Exception {
        Instant expiry = Instant.now().plus(Duration.ofDays(3));
        status = Statuses.expiring(expiry);

        assertThat(send("GET", "readyz").statusCode()).isEqualTo(200);
        assertThat(send("GET", "readyz").body())
                .startsWith("ok. The certificate for the source, /etc/mirror.p12, expires in ")
                .endsWith(", at " + expiry + "\n");
        assertThat(send("GET", "status").body()).contains("\"warning\":\"The certificate for the source, ");
        assertThat(send("GET", "metrics").body())
                .contains("millrace_mirror_certificate_expiry_timestamp_seconds{cluster=\"source\"} ");
    }

    @Test
    void shouldSayWhyItIsNotHealthy() throws Exception {
        status = Statuses.of(MirrorState.FAILED, "Could not write", "Could not write", List.of());

        assertThat(send("GET", "healthz").statusCode()).isEqualTo(503);
        assertThat(send("GET", "healthz").body()).isEqualTo("Could not write\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /metrics HTTP/1.1\r\nHost: ", "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n", "G"})
    void shouldAnswerProbesWhateverSlowClientsDo(String sent) throws Exception {
        status = Statuses.running(Statuses.partitions("a".repeat(200), 20_000));
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                Socket socket = new Socket();
                slow.add(socket);
                socket.setReceiveBufferSize(1_024); // None of them reads its answer.
                socket.connect(new InetSocketAddress(
                        ANY_PORT.getAddress(), URI.create(server.url()).getPort()));
                socket.getOutputStream().write(sent.getBytes(StandardCharsets.US_ASCII));
            }

            assertThat(send("GET", "healthz", PROBE_TIMEOUT).statusCode()).isEqualTo(200);
            assertThat(send("GET", "readyz", PROBE_TIMEOUT).statusCode()).isEqualTo(200);
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"metrics/", "healthz/x", "../etc/passwd", "%2e%2e/metrics", "METRICS"})
    void shouldNotFindOtherPages(String path) throws Exception {
        assertThat(send("GET", path).statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS"})
    void shouldRefuseAllMethodsThatAreNotForReading(String method) throws Exception {
        HttpResponse<String> answer = send(method, "metrics");

        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains("GET, HEAD");
    }

    @Test
    void shouldAnswerHeadWithoutABody() throws Exception {
        HttpResponse<String> answer = send("HEAD", "metrics");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEmpty();
    }

    @Test
    void shouldNameTheAddressThatIsTaken() {
        InetSocketAddress taken = new InetSocketAddress(
                ANY_PORT.getAddress(), URI.create(server.url()).getPort());

        assertThatThrownBy(() -> StatusServer.start(taken, shown, StatusServer.Access.LOCAL))
                .isInstanceOf(MirrorException.class)
                .hasMessageContaining("--http 127.0.0.1:" + taken.getPort() + ": cannot listen there");
    }

    private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        return send(method, path, Duration.ofSeconds(60));
    }

    private HttpResponse<String> send(String method, String path, Duration timeout)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path))
                .timeout(timeout)
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }
}
