package dev.millrace.mirror.cli;

import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.TopicPattern;
import dev.millrace.mirror.http.StatusServer;
import dev.millrace.mirror.run.Mirror;
import dev.millrace.mirror.text.MirrorException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code mirror run}: mirrors topics until it is stopped. */
@Command(
        name = "run",
        description = {
            "Mirrors topics from one cluster to another until it is stopped.",
            "Each record keeps its partition, key, value, headers and timestamp. Nothing is lost: offsets are committed"
                    + " only when the target has acknowledged the records before them. By default nothing is written"
                    + " twice after a kill either; see --resume."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped by SIGTERM or SIGINT, all that was read is written and committed",
            "1:a cluster does not answer, no topic matches, the port of --http is taken, or a record could not be"
                    + " written",
            "2:the command line or a file it names is wrong: an option, a setting, a port, a host that does not exist",
            "130:ended at once by a second Ctrl-C"
        })
final class RunCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(RunCommand.class);

    @Mixin
    @SuppressWarnings("unused") // Only its annotation matters.
    private StandardOptions standard;

    @Mixin
    private MirrorOptions mirrorOptions;

    @Mixin
    private StatusOption statusOption;

    @Option(
            names = "--http",
            paramLabel = "[HOST:]PORT",
            converter = AddressParser.class,
            order = 20,
            description =
                    "Show what the mirror does at http://HOST:PORT/: a page with charts, /status as JSON, /metrics"
                            + " for Prometheus, /healthz, /readyz."
                            + " A port alone is reachable from this machine only; 0 takes a free one, which the log tells.")
    private InetSocketAddress http;

    static final class AddressParser implements ITypeConverter<InetSocketAddress> {
        @Override
        public InetSocketAddress convert(String text) {
            return OptionValues.parseAddress(text);
        }
    }

    @Option(
            names = "--http-host",
            paramLabel = "NAME",
            order = 20,
            description =
                    "A name of this machine under which browsers open the page of --http; its addresses, localhost"
                            + " and the HOST of --http always work. May be given several times.")
    private List<String> hosts = List.of();

    @Mixin
    private TokenOption tokenOption;

    @Option(
            names = "--throttle",
            paramLabel = "[REGEX=]RATE",
            converter = ThrottleParser.class,
            order = 16,
            description =
                    "Copy at most so many bytes per second, such as 500KB or 10MB: of all topics together, or with"
                            + " REGEX= of each topic whose whole name matches. May be given several times; of those with REGEX="
                            + " the last that matches counts. 'mirror throttle' changes it later. Default: no limit.")
    private List<Throttle> throttles = List.of();

    /** A value of {@code --throttle}. */
    record Throttle(Optional<Pattern> topics, long bytesPerSecond) {}

    static final class ThrottleParser implements ITypeConverter<Throttle> {
        @Override
        public Throttle convert(String text) {
            int end = text.lastIndexOf('=');
            return new Throttle(
                    end < 0 ? Optional.empty() : Optional.of(TopicPattern.parse("--throttle", text.substring(0, end))),
                    OptionValues.parseRate(text.substring(end + 1)));
        }
    }

    @Option(names = "--verbose", order = 21, description = "Log all that the Kafka clients do, and stack traces.")
    private boolean verbose;

    private final BiConsumer<Runnable, Supplier<String>> runOnSignal;

    /**
     * @param runOnSignal takes an action to run when a signal ends the process, and a supplier that says what is left
     *     if the process must end at once
     */
    RunCommand(BiConsumer<Runnable, Supplier<String>> runOnSignal) {
        this.runOnSignal = runOnSignal;
    }

    @Override
    public Integer call() {
        Logs.configure(verbose);
        Duration statusInterval = statusOption.interval();
        requireServer(TokenOption.OPTION, tokenOption.isGiven());
        requireServer("--http-host", !hosts.isEmpty());
        MirrorConfig config = mirrorOptions.toCheckedConfig();
        Mirror mirror = new Mirror(config, new ProgressReport(config, System.err, statusInterval));
        runOnSignal.accept(mirror::stop, mirror::describeLeft);
        throttles.forEach(throttle -> mirror.controls().throttle(throttle.topics(), throttle.bytesPerSecond()));
        try (StatusServer server = http == null ? null : startServer(mirror)) {
            if (server != null) {
                LOG.info("The mirror shows what it does at {}", server.url());
            }
            mirror.run();
        }
        return 0;
    }

    private void requireServer(String option, boolean isGiven) {
        if (isGiven && http == null) {
            throw MirrorException.usage(option + ": --http is needed, the port for which it is");
        }
    }

    private StatusServer startServer(Mirror mirror) {
        Set<String> names = new HashSet<>(hosts);
        names.add(http.getHostString());
        return StatusServer.start(
                http,
                new StatusServer.Shown(mirror::status, Logs::recentWarnings, mirror.controls()),
                new StatusServer.Access(tokenOption.token(), names));
    }
}
