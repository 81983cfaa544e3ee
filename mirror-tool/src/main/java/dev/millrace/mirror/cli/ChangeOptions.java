package dev.millrace.mirror.cli;

import dev.millrace.mirror.TopicPattern;
import dev.millrace.mirror.http.StatusServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What {@code mirror pause}, {@code resume} and {@code throttle} share: whom they ask, and for which topics. */
final class ChangeOptions {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String TOPICS = "--topics";

    @Parameters(
            paramLabel = "[HOST:]PORT",
            arity = "1..*",
            converter = RunCommand.AddressParser.class,
            description =
                    "Where the mirror listens, as --http of 'mirror run' has it; of a mirror of several processes,"
                            + " all of them.")
    private List<InetSocketAddress> addresses;

    @Option(
            names = TOPICS,
            paramLabel = "REGEX",
            order = 1,
            description = "Topics whose whole name matches this Java regular expression, or one of several separated by"
                    + " commas; also those that come later. Default: all.")
    private String topics;

    @Mixin
    private TokenOption token;

    /** Asks each process, prints its answers, and returns the exit code. */
    int post(String path, Map<String, String> values, PrintWriter out, PrintWriter err) throws InterruptedException {
        Map<String, String> form = new TreeMap<>(values);
        if (topics != null) {
            form.put("topics", TopicPattern.parse(TOPICS, topics).pattern());
        }
        String header = token.header();
        boolean isDone = true;
        for (InetSocketAddress address : addresses) {
            String server = StatusServer.describe(address);
            HttpResponse<String> answer = post(URI.create("http://" + server + path), form, header);
            boolean isTaken = answer.statusCode() == 200;
            (isTaken ? out : err).println(server + ": " + answer.body().strip());
            isDone &= isTaken;
        }
        out.flush();
        err.flush();
        return isDone ? 0 : 1;
    }

    private static HttpResponse<String> post(URI uri, Map<String, String> form, String header)
            throws InterruptedException {
        String body = form.entrySet().stream()
                .map(value -> value.getKey() + "=" + URLEncoder.encode(value.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        try {
            return HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(uri)
                                    .timeout(TIMEOUT)
                                    .header("Authorization", header)
                                    .POST(HttpRequest.BodyPublishers.ofString(body))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw StatusCommand.noAnswer(uri, e);
        }
    }
}
