package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.TopicPattern;
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
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What {@code mirror pause}, {@code resume} and {@code throttle} share: which processes they ask, and for which topics. */
@Command(
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:a mirror does not answer, or refuses", "2:the command line is wrong"})
abstract class ChangeCommand implements Callable<Integer> {
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

    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    /** Returns the parameters besides the topics. */
    Map<String, String> values() {
        return Map.of();
    }

    /** Asks each process under the command's name, prints its answers, and returns the exit code. */
    @Override
    public final Integer call() throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        Map<String, String> form = new TreeMap<>(values());
        if (topics != null) {
            form.put("topics", TopicPattern.parse(TOPICS, topics).pattern());
        }
        String header = token.header();
        boolean isDone = true;
        for (InetSocketAddress address : addresses) {
            String server = StatusServer.describe(address);
            HttpResponse<String> answer = post(URI.create("http://" + server + "/" + spec.name()), form, header);
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
