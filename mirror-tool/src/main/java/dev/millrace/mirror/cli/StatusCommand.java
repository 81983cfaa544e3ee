package dev.millrace.mirror.cli;

import dev.millrace.mirror.control.ByteRate;
import dev.millrace.mirror.http.StatusServer;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mirror status}: prints what a running mirror started with {@code --http} does. */
@Command(
        name = "status",
        description = "Prints what a mirror does that was started with --http.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the mirror is ready: it mirrors all its partitions",
            "1:it is not ready, or does not answer",
            "2:the command line is wrong"
        })
final class StatusCommand implements Callable<Integer> {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final long RATE_MS = 1_000;
    private static final int SHOWN_PARTITIONS = 50;
    private static final int SHOWN_EVENTS = 10;

    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Parameters(
            paramLabel = "[HOST:]PORT",
            converter = RunCommand.AddressParser.class,
            description = "Where the mirror listens, as --http of 'mirror run' has it.")
    private InetSocketAddress address;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        Map<String, Object> before = ask();
        Thread.sleep(RATE_MS); // to measure rates
        Map<String, Object> now = ask();
        PrintWriter out = spec.commandLine().getOut();
        printCondition(now, out);
        printPartitions(before, now, out);
        printBytes(now, out);
        printMembers(now, out);
        printEvents(now, out);
        out.flush();
        return text(now, "obstacle").isEmpty() ? 0 : 1;
    }

    @SuppressWarnings("unchecked") // The server writes an object.
    private Map<String, Object> ask() throws InterruptedException {
        URI page = URI.create("http://" + StatusServer.describe(address) + "/status");
        try {
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(page).timeout(TIMEOUT).build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw MirrorException.failed(page + " answers " + answer.statusCode() + "; is that a mirror?");
            }
            // Every JSON text is YAML.
            return (Map<String, Object>) new Load(LoadSettings.builder().build()).loadFromString(answer.body());
        } catch (IOException e) {
            throw noAnswer(page, e);
        }
    }

    /** Returns the failure for a mirror whose page cannot be reached. */
    static MirrorException noAnswer(URI page, IOException e) {
        return MirrorException.failed(page + " does not answer; is the mirror running, with --http and this address? "
                + (e instanceof ConnectException
                        ? "Nothing listens there, or the machine cannot be reached"
                        : MirrorException.reason(e)));
    }

    private static void printCondition(Map<String, Object> now, PrintWriter out) {
        String obstacle = text(now, "obstacle");
        out.printf("%s, %s%n", text(now, "state"), obstacle.isEmpty() ? "ready" : "not ready: " + obstacle);
        out.printf(
                "%s -> %s, group %s, mode %s, resume %s, up %.0f s%n%n",
                text(now, "source"),
                text(now, "target"),
                text(now, "group"),
                text(now, "mode"),
                text(now, "resume"),
                number(now, "upSeconds"));
        String warning = text(now, "warning");
        if (!warning.isEmpty()) {
            out.printf("%s%n%n", warning);
        }
        String controls = text(now, "controls");
        if (!controls.isEmpty()) {
            out.printf("%s%n%n", controls);
        }
    }

    /** Returns the last column of a partition. */
    private static String mark(Map<String, Object> row) {
        if ((boolean) row.get("isPaused")) {
            return "paused";
        }
        if (row.get("stall") != null) {
            return text(row, "stall");
        }
        long throttle = (long) number(row, "throttle");
        return throttle == ByteRate.NONE ? "" : "at most " + ByteRate.describe(throttle);
    }

    private static void printPartitions(Map<String, Object> before, Map<String, Object> now, PrintWriter out) {
        Map<String, Double> recordsBefore = list(before, "partitions").stream()
                .collect(Collectors.toMap(row -> text(row, "name"), row -> number(row, "records")));
        List<Map<String, Object>> rows = list(now, "partitions").stream()
                .filter(row -> (boolean) row.get("isOwned"))
                .sorted(Comparator.comparingDouble(row -> -number(row, "lag")))
                .toList();
        NameColumn names = NameColumn.of("partition", rows.stream().map(row -> text(row, "name")));
        String line = "%s  %14s  %12s  %12s  %8s  %10s  %s%n";
        out.printf(line, names.cell("partition"), "records", "records/s", "lag", "lag, s", "in flight", "state");
        double seconds = (number(now, "atMs") - number(before, "atMs")) / 1e3;
        for (Map<String, Object> row : rows.subList(0, Math.min(rows.size(), SHOWN_PARTITIONS))) {
            double more = number(row, "records") - recordsBefore.getOrDefault(text(row, "name"), 0.0);
            out.printf(
                    line,
                    names.cell(text(row, "name")),
                    whole(number(row, "records")),
                    whole(more / seconds),
                    whole(number(row, "lag")),
                    whole(number(row, "lagSeconds")),
                    whole(number(row, "inFlight")),
                    mark(row));
        }
        if (rows.size() > SHOWN_PARTITIONS) {
            out.printf("and %,d more, with smaller lags%n", rows.size() - SHOWN_PARTITIONS);
        }
        out.printf(
                line,
                names.cell("all"),
                whole(number(now, "records")),
                whole((number(now, "records") - number(before, "records")) / seconds),
                ((boolean) now.get("isLagKnown") ? "" : ">= ") + whole(number(now, "lag")),
                "",
                whole(number(now, "inFlightRecords")),
                "");
        double catchUp = number(now, "catchUpSeconds");
        if (catchUp > 0) {
            out.printf("%nAt the rate of the last minute it has caught up in %s.%n", Words.duration(catchUp));
        }
    }

    private static void printBytes(Map<String, Object> now, PrintWriter out) {
        long fetched = (long) number(now, "fetchedBytes");
        String written = Words.bytes((long) number(now, "writtenBytes"));
        if (fetched > 0) { // otherwise Kafka's consumer has fetched
            out.printf(
                    "%n%s in whole batches were read from the source, and %s written to the target, compressed as they"
                            + " are there.%n",
                    Words.bytes(fetched), written);
        } else {
            out.printf("%n%s in whole batches were written to the target, compressed as they are there.%n", written);
        }
    }

    private static void printMembers(Map<String, Object> now, PrintWriter out) {
        out.println();
        for (Map<String, Object> member : list(now, "members")) {
            out.printf(
                    "%s: %s, %s, polled %.1f s ago%n",
                    text(member, "name"),
                    (boolean) member.get("isMember") ? "in the group" : "not in the group",
                    Words.count((long) number(member, "partitions"), "partition"),
                    number(member, "silentSeconds"));
        }
    }

    private static void printEvents(Map<String, Object> now, PrintWriter out) {
        List<Map<String, Object>> events = list(now, "events");
        for (Map<String, Object> event : events.subList(Math.max(0, events.size() - SHOWN_EVENTS), events.size())) {
            out.printf(
                    "%s %s %s%n",
                    Instant.ofEpochMilli((long) number(event, "atMs")), text(event, "level"), text(event, "text"));
        }
    }

    private static String whole(double number) {
        return Double.isNaN(number) ? "?" : String.format(Locale.ROOT, "%,.0f", number);
    }

    private static String text(Map<String, Object> object, String name) {
        return object.get(name).toString();
    }

    private static double number(Map<String, Object> object, String name) {
        return object.get(name) instanceof Number number ? number.doubleValue() : Double.NaN;
    }

    @SuppressWarnings("unchecked") // The server writes a list of objects.
    private static List<Map<String, Object>> list(Map<String, Object> object, String name) {
        return (List<Map<String, Object>>) object.get(name);
    }
}
