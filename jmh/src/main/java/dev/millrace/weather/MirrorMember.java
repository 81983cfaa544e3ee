package dev.millrace.weather;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.process.CommandProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One place in the fleet of a mirror, in which one process after the other runs.
 *
 * <p><b>Threads:</b> any; it is handled by one thread at a time, and watched by another.
 */
final class MirrorMember {
    /** As {@code docs/mirror.md} says. */
    private static final Duration STOP = Duration.ofSeconds(40);

    /** A process that ends more often stays away: it would say the same again. */
    private static final int MOST_EXITS = 4;

    private static final int SHOWN_LINES = 12;
    private static final Duration START = Duration.ofMinutes(2);
    /** After this time without trouble a process has closed what it no longer needs. */
    private static final Duration QUIET = Duration.ofSeconds(30);

    private static final String FORGOTTEN = "it has forgotten the producer";
    private static final Pattern URL = Pattern.compile("http://127\\.0\\.0\\.1:\\d+/");
    private static final Duration ANSWER = Duration.ofSeconds(3);
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final int number;
    private final Supplier<CommandProcess> launch;
    private final boolean mayForget;
    private final Judgement judgement;
    private final List<CommandProcess> processes = new ArrayList<>();
    private boolean isWanted;
    private int exits;
    private boolean wasKilled;
    private boolean wasFrozen;
    private Optional<Calm> calm = Optional.empty();

    /** What a process had in the calm. */
    private record Calm(long pid, Footprint footprint) {}

    /**
     * @param launch starts a process
     * @param mayForget whether the target may forget who wrote, so that a process may have to end
     * @param judgement gets what processes do that nobody wanted
     */
    MirrorMember(int number, Supplier<CommandProcess> launch, boolean mayForget, Judgement judgement) {
        this.number = number;
        this.launch = launch;
        this.mayForget = mayForget;
        this.judgement = judgement;
    }

    synchronized void start() {
        isWanted = true;
        processes.add(launch.get());
    }

    private CommandProcess present() {
        return processes.get(processes.size() - 1);
    }

    /** Blocks until the process says that it mirrors; before that, a signal would end a shell or a JVM. */
    void awaitStarted() {
        Await.until(this + " mirrors", START, () -> isMirroring() || !isRunning());
    }

    private synchronized boolean isMirroring() {
        return present().hasPrinted("Mirroring ");
    }

    private synchronized boolean isRunning() {
        return present().isAlive();
    }

    synchronized void kill() throws InterruptedException {
        wasKilled = true;
        isWanted = false;
        present().kill().awaitExit(STOP);
    }

    /** Whether a process was killed, also because it did not end in time. */
    synchronized boolean wasKilled() {
        return wasKilled;
    }

    /** Whether a process was frozen, perhaps for longer than its session. */
    synchronized boolean wasFrozen() {
        return wasFrozen;
    }

    synchronized void freeze() {
        if (isRunning()) {
            wasFrozen = true;
            present().freeze();
        }
    }

    synchronized void thaw() {
        if (isRunning()) {
            present().thaw();
        }
    }

    /**
     * Stops it by SIGTERM, and notes if that takes too long or it tells of an error.
     *
     * @param mayFail whether a cluster was away, so that exit code 1 is right
     */
    synchronized void stop(BooleanSupplier mayFail) throws InterruptedException {
        isWanted = false;
        if (!isRunning()) {
            return;
        }
        try {
            int code = present().terminate().awaitExit(STOP);
            if (code != 0 && !(code == 1 && mayFail.getAsBoolean())) {
                note(this + " was stopped, and ended with exit code " + code);
            }
        } catch (AssertionError e) {
            note(this + " was stopped, and has not ended within " + STOP.toSeconds() + " s");
            kill();
        }
    }

    /** Notes an end that nobody wanted, and starts the next process. */
    synchronized void check() {
        if (isWanted && !isRunning()) {
            if (!mayForget || !present().hasPrinted(FORGOTTEN)) {
                note(this + " has ended by itself");
            }
            isWanted = false;
            if (exits <= MOST_EXITS) {
                start();
            }
        }
    }

    private void note(String what) {
        exits++;
        List<String> lines = present().printed().toList();
        judgement.found(
                Rule.EXIT,
                1,
                what + ". Its last lines:\n    "
                        + String.join("\n    ", lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size())));
    }

    /** Changes what it copies; if it does not answer, nobody minds. */
    void post(String change, String form) {
        var unused = ask(change, HttpRequest.BodyPublishers.ofString(form), "POST");
    }

    private Optional<HttpResponse<String>> ask(String path, HttpRequest.BodyPublisher body, String method) {
        Optional<String> url = url();
        if (url.isEmpty()) {
            return Optional.empty();
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(url.get() + path))
                .timeout(ANSWER)
                .header("Authorization", "Bearer " + MirrorFleet.TOKEN)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .method(method, body)
                .build();
        try {
            return Optional.of(HTTP.send(request, HttpResponse.BodyHandlers.ofString()));
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while a mirror answers", e);
        }
    }

    private synchronized Optional<String> url() {
        return present()
                .printed()
                .map(URL::matcher)
                .filter(Matcher::find)
                .map(Matcher::group)
                .findFirst();
    }

    /** Remembers what the process has now, when all is well. */
    void noteFootprint() {
        calm = isReady() ? Optional.of(new Calm(pid(), Footprint.of(pid()))) : Optional.empty();
    }

    private synchronized long pid() {
        return present().pid();
    }

    /** Judges whether the process, if it has lived since then, has more now; blocks while it may still close something. */
    void judgeFootprint() {
        if (calm.isPresent() && calm.get().pid == pid() && isRunning()) {
            Footprint then = calm.get().footprint;
            Await.holdsWithin(QUIET, () -> Footprint.of(pid()).moreThan(then) == 0);
            Footprint now = Footprint.of(pid());
            judgement.found(Rule.LEAKED, now.moreThan(then), this + " had " + then + " in the calm, and has " + now);
        }
    }

    /** Blocks until the process says that it is ready, or time runs out; judges it if it does not. */
    void judgeReadiness(Duration bound) {
        if (!Await.holdsWithin(bound, this::isReady)) {
            String answer = askReadiness().map(HttpResponse::body).orElse("nothing");
            judgement.found(Rule.UNREADY, 1, this + " says, asked whether it is ready: " + answer);
        }
    }

    private boolean isReady() {
        return askReadiness().filter(answer -> answer.statusCode() == 200).isPresent();
    }

    private Optional<HttpResponse<String>> askReadiness() {
        return ask("readyz", HttpRequest.BodyPublishers.noBody(), "GET");
    }

    /** What all its processes have printed. */
    synchronized List<String> printed() {
        return processes.stream().flatMap(CommandProcess::printed).toList();
    }

    /** Writes what they have printed to files of this folder. */
    synchronized void save(Path to) throws IOException {
        for (int i = 0; i < processes.size(); i++) {
            Files.write(
                    to.resolve("mirror-" + number + "-" + i + ".log"),
                    processes.get(i).printed().toList());
        }
    }

    /** Kills the process. */
    synchronized void close() {
        processes.forEach(CommandProcess::close);
    }

    @Override
    public String toString() {
        return "mirror " + number;
    }
}
