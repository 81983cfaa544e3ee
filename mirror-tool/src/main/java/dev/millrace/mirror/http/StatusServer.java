package dev.millrace.mirror.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.text.MirrorException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows over HTTP what a mirror does, and lets clients with its token change which topics are paused and throttled.
 *
 * <p><b>Threads:</b> any. Each request has a daemon thread, so that a client that sends or reads slowly keeps no other
 * waiting: a probe would take the mirror for dead. Only a few requests have large answers in memory at a time.
 */
public final class StatusServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StatusServer.class);
    private static final int MAX_CONNECTIONS = 1_000;
    private static final int MAX_LARGE_ANSWERS = 4;
    private static final long PATIENCE_SECONDS = 10;
    /** The page contains its own script and style. */
    private static final String NOTHING_FROM_ELSEWHERE = "default-src 'none'; script-src 'unsafe-inline';"
            + " style-src 'unsafe-inline'; img-src data:; connect-src 'self'; frame-ancestors 'none'";

    /** Paths for programs, which ask under any name that leads to this machine. */
    private static final Set<String> FOR_PROGRAMS = Set.of("/metrics", "/healthz", "/readyz");

    /** Paths whose answer is one line. */
    private static final Set<String> PROBES = Set.of("/healthz", "/readyz");

    private static final int UNAUTHORIZED = 401;
    private static final int MAX_FORM_BYTES = 64 << 10;

    static {
        setDefault("jdk.httpserver.maxConnections", MAX_CONNECTIONS);
        // In seconds. Without a limit, each client that never finishes a request or never reads its answer keeps a
        // thread.
        setDefault("sun.net.httpserver.maxReqTime", 10);
        setDefault("sun.net.httpserver.maxRspTime", 60);
    }

    private final Supplier<MirrorStatus> mirror;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(StatusServer::daemon);
    private final Semaphore largeAnswers = new Semaphore(MAX_LARGE_ANSWERS);
    private final Supplier<List<LogEvent>> events;
    private final TopicChanges changes;
    private final HostNames hosts;
    private final String page = readPage();
    private final Map<String, Function<MirrorStatus, Answer>> pages = Map.of(
            "/", status -> new Answer(200, "text/html; charset=utf-8", page),
            "/status", status -> new Answer(200, "application/json", statusJson(status)),
            "/metrics", status -> new Answer(200, PrometheusText.CONTENT_TYPE, MirrorMetrics.format(status)),
            "/healthz", status -> answer(status.condition().failure(), ""),
            "/readyz", status -> answer(status.condition().obstacle(), status.warning()));

    /**
     * What a server shows and changes.
     *
     * @param events the last ones, the oldest first
     */
    public record Shown(Supplier<MirrorStatus> mirror, Supplier<List<LogEvent>> events, TopicControls controls) {}

    /**
     * Who may ask.
     *
     * @param token that allows changes; without one nobody may change anything
     * @param hosts names of the server besides localhost; its addresses are always allowed
     */
    public record Access(Optional<AccessToken> token, Set<String> hosts) {
        /** Allows reading, on this machine only. */
        public static final Access LOCAL = new Access(Optional.empty(), Set.of());
    }

    private static void setDefault(String property, int value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, Integer.toString(value));
        }
    }

    private StatusServer(HttpServer server, Shown shown, Access access) {
        this.server = server;
        this.events = shown.events;
        this.mirror = shown.mirror;
        this.changes = new TopicChanges(shown.controls, mirror, access.token);
        this.hosts = new HostNames(access.hosts);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
    }

    /**
     * Starts to answer.
     *
     * @param address with port 0 for a free one
     * @throws MirrorException naming the address, when it is taken or not one of this machine
     */
    public static StatusServer start(InetSocketAddress address, Shown shown, Access access) {
        try {
            // The default lets 50 connections wait. A further one is tried again by its client's kernel a second later:
            // often too late for a probe.
            HttpServer listening = HttpServer.create(address, MAX_CONNECTIONS);
            StatusServer opened = new StatusServer(listening, shown, access);
            Thread starter = daemon(opened.server::start); // the server's own thread inherits that it is a daemon
            starter.start();
            starter.join();
            return opened;
        } catch (IOException e) {
            throw MirrorException.failed("--http " + describe(address) + ": cannot listen there (" + e.getMessage()
                    + "); is another process using the port? 0 takes a free one");
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "mirror-http");
        thread.setDaemon(true);
        return thread;
    }

    /** Returns the server's URL, such as {@code http://127.0.0.1:9464/}. */
    public String url() {
        return "http://" + describe(server.getAddress()) + "/";
    }

    /** Formats {@code HOST:PORT} as in a URL. */
    public static String describe(InetSocketAddress address) {
        String host = address.getAddress() == null
                ? address.getHostString()
                : address.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    private static String readPage() {
        try (InputStream page = StatusServer.class.getResourceAsStream("status.html")) {
            return new String(page.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String statusJson(MirrorStatus status) {
        return StatusJson.format(status, events.get(), changes.areAllowed());
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (PROBES.contains(exchange.getRequestURI().getPath())) {
                send(exchange, answer(exchange));
            } else if (largeAnswers.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                try {
                    send(exchange, answer(exchange));
                } finally {
                    largeAnswers.release();
                }
            } else {
                send(exchange, Answer.text(503, "Others are still reading their answers; try again"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The server is closed.
        }
    }

    private Answer answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        if (!isHostAllowed(path, exchange)) {
            return Answer.text(
                    403,
                    "This mirror is not known by the name in the Host header; use its address, or start it with"
                            + " --http-host NAME");
        }
        try {
            return TopicChanges.has(path) ? change(path, exchange) : show(path, exchange);
        } catch (RuntimeException e) {
            LOG.warn("Cannot answer {}: {}", path, MirrorException.reason(e));
            return Answer.text(500, "An error of the mirror; its log says more");
        }
    }

    /** Checks the host name. Programs on other machines may use names of this machine that it does not know. */
    private boolean isHostAllowed(String path, HttpExchange exchange) {
        boolean isOpen = !server.getAddress().getAddress().isLoopbackAddress();
        return (isOpen && FOR_PROGRAMS.contains(path))
                || hosts.areAllowed(exchange.getRequestHeaders().getFirst("Host"));
    }

    private Answer show(String path, HttpExchange exchange) {
        Function<MirrorStatus, Answer> shown = pages.get(path);
        if (shown == null) {
            String known = pages.keySet().stream().sorted().collect(Collectors.joining(" "));
            return Answer.text(404, "There is no such page; there are " + known);
        }
        return isRead(exchange.getRequestMethod()) ? shown.apply(mirror.get()) : allowOnly("GET, HEAD", exchange);
    }

    private Answer change(String path, HttpExchange exchange) throws IOException {
        if (!exchange.getRequestMethod().equals("POST")) {
            return allowOnly("POST", exchange);
        }
        Answer refusal = changes.refusalOrNull(exchange.getRequestHeaders().getFirst("Authorization"));
        if (refusal != null) {
            return refusal;
        }
        byte[] form = exchange.getRequestBody().readNBytes(MAX_FORM_BYTES + 1);
        if (form.length > MAX_FORM_BYTES) {
            return Answer.text(413, "At most " + MAX_FORM_BYTES + " bytes are taken");
        }
        String who = exchange.getRemoteAddress().getAddress().getHostAddress();
        return changes.answer(path, new String(form, StandardCharsets.UTF_8), who);
    }

    private static Answer allowOnly(String methods, HttpExchange exchange) {
        exchange.getResponseHeaders().set("Allow", methods);
        return Answer.text(405, "Only " + methods.replace(", ", " and ") + " will do");
    }

    private static boolean isRead(String method) {
        return method.equals("GET") || method.equals("HEAD");
    }

    private static Answer answer(String problem, String warning) {
        if (!problem.isEmpty()) {
            return Answer.text(503, problem);
        }
        return Answer.text(200, warning.isEmpty() ? "ok" : "ok. " + warning);
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", answer.contentType());
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.getResponseHeaders().set("Content-Security-Policy", NOTHING_FROM_ELSEWHERE);
        exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
        if (answer.code() == UNAUTHORIZED) {
            exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
        }
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(answer.code(), -1);
        } else {
            exchange.sendResponseHeaders(answer.code(), body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** Closes the port at once. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
