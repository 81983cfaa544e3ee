package dev.millrace.mirror.support;

import dev.millrace.mirror.text.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** A headless Chromium that shows one page, driven by its DevTools protocol. Killed on close. */
public final class Chromium implements AutoCloseable {
    private static final Pattern LISTENING = Pattern.compile("DevTools listening on ws://([^/]+)/");
    private static final int ANSWER_SECONDS = 30;

    private final Process process;
    private final WebSocket socket;
    private final Map<Integer, CompletableFuture<Map<?, ?>>> asked = new ConcurrentHashMap<>();
    private final Map<String, CompletableFuture<Void>> loads = new ConcurrentHashMap<>();
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private int lastId;

    /** The program, if this machine has it. */
    public static Optional<Path> find() {
        return Programs.find("chromium", "chromium-browser", "google-chrome");
    }

    /**
     * Opens a page in a window of this width.
     *
     * @param profile an empty folder, for what it keeps
     */
    public Chromium(Path program, Path profile, URI page, int width) throws IOException, InterruptedException {
        process = new ProcessBuilder(
                        program.toString(),
                        "--headless=new",
                        "--no-sandbox", // which the user root, and many a container, cannot have
                        "--disable-dev-shm-usage",
                        "--disable-gpu",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "--window-size=" + width + ",1000")
                .redirectErrorStream(true)
                .start();
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest newPage = HttpRequest.newBuilder(URI.create("http://" + awaitAddress() + "/json/new"))
                .PUT(HttpRequest.BodyPublishers.noBody())
                .build();
        Map<?, ?> opened =
                parse(client.send(newPage, HttpResponse.BodyHandlers.ofString()).body());
        socket = client.newWebSocketBuilder()
                .buildAsync(URI.create((String) opened.get("webSocketDebuggerUrl")), new Messages())
                .join();
        call("Runtime.enable", "{}");
        call("Page.enable", "{}");
        call("Page.setLifecycleEventsEnabled", "{\"enabled\":true}");
        load((String) call("Page.navigate", member("url", page.toString())).get("loaderId"))
                .orTimeout(ANSWER_SECONDS, TimeUnit.SECONDS)
                .join();
    }

    /** Completes when the page is loaded; before, scripts would run in the empty one. */
    private CompletableFuture<Void> load(String id) {
        return loads.computeIfAbsent(id, unused -> new CompletableFuture<>());
    }

    private String awaitAddress() throws IOException {
        BufferedReader lines = process.inputReader();
        StringBuilder printed = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher found = LISTENING.matcher(line);
            if (found.find()) {
                CompletableFuture.runAsync(() -> lines.lines().forEach(unused -> {})); // so that it can go on printing
                return found.group(1);
            }
            printed.append(line).append('\n');
        }
        throw new IOException("Chromium has ended: " + printed);
    }

    /** The value of an expression in the page, as a string; waits for none. */
    public String evaluate(String expression) {
        Map<?, ?> answer = call("Runtime.evaluate", member("expression", "String(" + expression + ")"));
        if (answer.containsKey("exceptionDetails")) {
            throw new AssertionError(expression + ": " + answer);
        }
        return (String) ((Map<?, ?>) answer.get("result")).get("value");
    }

    /** What the page has thrown so far. */
    public List<String> errors() {
        return List.copyOf(errors);
    }

    /** The whole page as a PNG. */
    public byte[] takePicture() {
        String clip =
                "{\"captureBeyondViewport\":true,\"clip\":{\"x\":0,\"y\":0,\"width\":%s,\"height\":%s,\"scale\":1}}"
                        .formatted(evaluate("window.innerWidth"), evaluate("document.body.offsetHeight"));
        return Base64.getDecoder()
                .decode((String) call("Page.captureScreenshot", clip).get("data"));
    }

    private static String member(String name, String value) {
        return new Json().beginObject().name(name).value(value).endObject().toString();
    }

    private Map<?, ?> call(String method, String params) {
        int id = ++lastId;
        CompletableFuture<Map<?, ?>> answer = new CompletableFuture<>();
        asked.put(id, answer);
        String message = "{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + params + "}";
        socket.sendText(message, true).join();
        Map<?, ?> received = answer.orTimeout(ANSWER_SECONDS, TimeUnit.SECONDS).join();
        if (!(received.get("result") instanceof Map<?, ?> result)) {
            throw new AssertionError(method + ": " + received);
        }
        return result;
    }

    /** JSON, which is YAML, too. */
    private static Map<?, ?> parse(String json) {
        LoadSettings settings =
                LoadSettings.builder().setCodePointLimit(Integer.MAX_VALUE).build();
        return (Map<?, ?>) new Load(settings).loadFromString(json);
    }

    private final class Messages implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean isLast) {
            text.append(part);
            if (isLast) {
                Map<?, ?> message = parse(text.toString());
                text.setLength(0);
                if (message.get("id") instanceof Integer id) {
                    asked.remove(id).complete(message);
                } else if (message.get("params") instanceof Map<?, ?> event && "load".equals(event.get("name"))) {
                    load((String) event.get("loaderId")).complete(null);
                } else if ("Runtime.exceptionThrown".equals(message.get("method"))) {
                    errors.add(message.toString());
                }
            }
            from.request(1);
            return null;
        }
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly()
                .onExit()
                .orTimeout(ANSWER_SECONDS, TimeUnit.SECONDS)
                .join();
    }
}
