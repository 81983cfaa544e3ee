package dev.millrace.mirror.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.mirror.MirrorException;
import dev.millrace.mirror.MirrorStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows what a mirror does over HTTP. No request changes anything.
 *
 * <p><b>Threads:</b> any. Requests are answered by a few daemon threads of its own.
 */
public final class StatusServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StatusServer.class);
    private static final int THREADS = 4;
    /** The page has its script and style in itself. */
    private static final String NOTHING_FROM_ELSEWHERE = "default-src 'none'; script-src 'unsafe-inline';"
            + " style-src 'unsafe-inline'; img-src data:; connect-src 'self'; frame-ancestors 'none'";

    private static final String TEXT = "text/plain; charset=utf-8";

    static {
        // Seconds. Without a limit, clients that never finish a request or never read its answer keep all threads.
        setDefault("sun.net.httpserver.maxReqTime", 10);
        setDefault("sun.net.httpserver.maxRspTime", 60);
    }

    private final Supplier<MirrorStatus> mirror;
    private final HttpServer server;
    private final ExecutorService threads;
    private final Supplier<List<LogEvent>> events;
    private final String page = readPage();
    private final Map<String, Function<MirrorStatus, Answer>> pages = Map.of(
            "/", status -> new Answer(200, "text/html; charset=utf-8", page),
            "/status", status -> new Answer(200, "application/json", statusJson(status)),
            "/metrics", status -> new Answer(200, PrometheusText.CONTENT_TYPE, MirrorMetrics.format(status)),
            "/healthz", status -> answer(status.condition().failure()),
            "/readyz", status -> answer(status.condition().obstacle()));

    private record Answer(int code, String contentType, String body) {}

    private static void setDefault(String property, int value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, Integer.toString(value));
        }
    }

    private StatusServer(HttpServer server, Supplier<MirrorStatus> mirror, Supplier<List<LogEvent>> events) {
        this.server = server;
        this.events = events;
        this.mirror = mirror;
        this.threads = Executors.newFixedThreadPool(THREADS, StatusServer::daemon);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
    }

    /**
     * Starts to answer.
     *
     * @param address with port 0 for a free one
     * @param events the last ones, the oldest first
     * @throws MirrorException naming the address, when it is taken or not one of this machine
     */
    public static StatusServer start(
            InetSocketAddress address, Supplier<MirrorStatus> mirror, Supplier<List<LogEvent>> events) {
        try {
            StatusServer opened = new StatusServer(HttpServer.create(address, 0), mirror, events);
            Thread starter = daemon(opened.server::start); // of which the server's own thread takes over that it is one
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

    /** Where it answers: {@code http://127.0.0.1:9464/}. */
    public String url() {
        return "http://" + describe(server.getAddress()) + "/";
    }

    /** {@code HOST:PORT} as a URL has it. */
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
        return StatusJson.format(status, events.get());
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            send(exchange, answer(exchange));
        }
    }

    private Answer answer(HttpExchange exchange) {
        Function<MirrorStatus, Answer> page = pages.get(exchange.getRequestURI().getPath());
        if (page == null) {
            String known = pages.keySet().stream().sorted().collect(Collectors.joining(" "));
            return new Answer(404, TEXT, "There is no such page; there are " + known + "\n");
        }
        if (!isRead(exchange.getRequestMethod())) {
            exchange.getResponseHeaders().set("Allow", "GET, HEAD");
            return new Answer(405, TEXT, "Only GET and HEAD are possible\n");
        }
        try {
            return page.apply(mirror.get());
        } catch (RuntimeException e) {
            LOG.warn("Cannot answer {}: {}", exchange.getRequestURI().getPath(), MirrorException.reason(e));
            return new Answer(500, TEXT, "An error of the mirror; its log says more\n");
        }
    }

    private static boolean isRead(String method) {
        return method.equals("GET") || method.equals("HEAD");
    }

    private static Answer answer(String problem) {
        return problem.isEmpty() ? new Answer(200, TEXT, "ok\n") : new Answer(503, TEXT, problem + "\n");
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", answer.contentType);
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.getResponseHeaders().set("Content-Security-Policy", NOTHING_FROM_ELSEWHERE);
        exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(answer.code, -1);
        } else {
            exchange.sendResponseHeaders(answer.code, body.length);
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
