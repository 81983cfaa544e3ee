package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.support.Statuses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may change what over HTTP, and what a request changes. */
class TopicChangesTest {
    private static final String TOKEN = "0123456789abcdef";

    private final TopicControls controls = new TopicControls();
    private final StatusServer server = start(Optional.of(AccessToken.of(TOKEN)));

    private StatusServer start(Optional<AccessToken> token) {
        return StatusServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new StatusServer.Shown(() -> Statuses.running(Statuses.partitions("orders", 3)), List::of, controls),
                new StatusServer.Access(token, Set.of("mirror.example")));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void shouldPauseAndResumeTheTopicsThatMatch() throws Exception {
        HttpResponse<String> paused = post("pause", "topics=orders%7Clogs-.*");

        assertThat(paused.statusCode()).isEqualTo(200);
        assertThat(paused.body())
                .isEqualTo("Paused topics orders|logs-.*; in this process these are 3 partitions of orders\n");
        assertThat(controls.state().isPaused("orders")).isTrue();
        assertThat(controls.state().isPaused("logs-a")).isTrue();
        assertThat(controls.state().isPaused("payments")).isFalse();

        assertThat(post("resume", "topics=logs-.*").body())
                .isEqualTo("Resumed topics logs-.*; this process has no partition of them now, it holds for those that"
                        + " come\n");
        assertThat(controls.state().isPaused("orders")).isTrue();
        assertThat(controls.state().isPaused("logs-a")).isFalse();
        assertThat(post("resume", "").statusCode()).isEqualTo(200);
        assertThat(controls.state().describe()).isEmpty();
    }

    @Test
    void shouldThrottleEachTopicOrAllTogether() throws Exception {
        assertThat(post("throttle", "bytes-per-second=10MB&topics=orders").body())
                .startsWith("Limited topics orders to 10 MB/s each; ");
        assertThat(post("throttle", "bytes-per-second=50000").body())
                .startsWith("Limited all topics to 50 KB/s together; ");
        assertThat(controls.state().throttleOf("orders")).isEqualTo(10_000_000);
        assertThat(controls.state().throttleOfAll()).isEqualTo(50_000);

        assertThat(post("throttle", "bytes-per-second=none").body()).startsWith("Took the limit off all topics; ");
        assertThat(post("throttle", "bytes-per-second=none&topics=orders").statusCode())
                .isEqualTo(200);
        assertThat(controls.state().describe()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
                    pause    ; topics=(                    ; topics '(': Unclosed group
                    pause    ; topics=                     ; topics '': it is empty
                    pause    ; topics=a%0Ab                ; control characters
                    pause    ; topic=a                     ; 'topic' is no parameter of POST /pause; there are topics
                    pause    ; bytes-per-second=1MB        ; 'bytes-per-second' is no parameter of POST /pause
                    pause    ; topics                      ; 'topics' is no parameter
                    pause    ; topics=%zz                  ; Illegal hex
                    throttle ; topics=a                    ; bytes-per-second is missing
                    throttle ; bytes-per-second=0          ; to copy nothing, pause
                    throttle ; bytes-per-second=-1         ; not '-1'
                    throttle ; bytes-per-second=9223372036854775807 ; from 1KB to 1000GB
                    """)
    void shouldSayWhatIsWrongAndChangeNothing(String path, String form, String message) throws Exception {
        HttpResponse<String> answer = post(path, form);

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains(message);
        assertThat(controls.state().describe()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Basic 0123456789abcdef", TOKEN})
    void shouldRefuseChangesWithoutTheToken(String authorization) throws Exception {
        HttpResponse<String> answer =
                send(request("pause").header("Authorization", authorization).POST(form("")));

        assertThat(answer.statusCode()).isEqualTo(401);
        assertThat(answer.headers().firstValue("WWW-Authenticate")).contains("Bearer");
        assertThat(answer.body()).doesNotContain("0123");
        assertThat(controls.state().describe()).isEmpty();
    }

    @Test
    void shouldSayHowToEnableChangesWhenThereIsNoToken() throws Exception {
        try (StatusServer closed = start(Optional.empty())) {
            HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create(closed.url() + "pause"))
                    .header("Authorization", "Bearer ")
                    .POST(form("")));

            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(answer.body()).contains("--http-token-file", "MIRROR_HTTP_TOKEN");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "PUT", "OPTIONS", "DELETE"})
    void shouldChangeNothingByOtherMethods(String method) throws Exception {
        HttpResponse<String> answer =
                send(request("pause").header("Authorization", "Bearer " + TOKEN).method(method, form("")));

        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains("POST");
        assertThat(answer.headers().map()).doesNotContainKey("access-control-allow-origin");
        assertThat(controls.state().describe()).isEmpty();
    }

    @Test
    void shouldRefuseAFormThatIsTooLong() throws Exception {
        assertThat(post("pause", "topics=" + "a".repeat(70_000)).statusCode()).isEqualTo(413);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "status", "metrics", "pause"})
    void shouldAnswerOnlyUnderItsOwnNames(String path) throws Exception {
        assertThat(getAs("evil.example", server, path))
                .startsWith("HTTP/1.1 403 ")
                .contains("--http-host NAME")
                .doesNotContain("evil");
        assertThat(getAs("mirror.example:1", server, path))
                .startsWith(path.equals("pause") ? "HTTP/1.1 405 " : "HTTP/1.1 200 ");
    }

    @Test
    void shouldAnswerProgramsOfOtherMachinesUnderAnyNameThatLeadsHere() throws Exception {
        try (StatusServer open = StatusServer.start(
                new InetSocketAddress("0.0.0.0", 0),
                new StatusServer.Shown(() -> Statuses.running(List.of()), List::of, controls),
                StatusServer.Access.LOCAL)) {
            for (String path : List.of("metrics", "healthz", "readyz")) {
                assertThat(getAs("mirror.svc", open, path)).startsWith("HTTP/1.1 200 ");
            }
            for (String path : List.of("", "status", "pause")) {
                assertThat(getAs("mirror.svc", open, path)).startsWith("HTTP/1.1 403 ");
            }
        }
    }

    /** Java's client does not send a Host of our own. */
    private static String getAs(String host, StatusServer to, String path) throws IOException {
        int port = URI.create(to.url()).getPort();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String request = "GET /" + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private HttpResponse<String> post(String path, String form) throws Exception {
        return send(request(path).header("Authorization", "Bearer " + TOKEN).POST(form(form)));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(server.url() + path));
    }

    private static HttpRequest.BodyPublisher form(String form) {
        return HttpRequest.BodyPublishers.ofString(form);
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
