package dev.millrace.weather;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.CommandProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The processes of one mirror. It starts again what has ended although nobody wanted that, and notes it.
 *
 * <p><b>Threads:</b> any; one process is handled by one thread at a time.
 */
final class MirrorFleet implements AutoCloseable {
    /** The consumer group of the mirror. */
    static final String GROUP = "weather";

    /** As {@code docs/mirror.md} says. */
    static final Duration STOP = Duration.ofSeconds(40);

    /** Short, so that others take over soon. */
    static final Duration SESSION = Duration.ofSeconds(6);

    /** A process that ends more often stays away: it would say the same again. */
    private static final int MOST_EXITS = 4;

    private static final int SHOWN_LINES = 12;
    private static final String FORGOTTEN = "it has forgotten the producer";
    private static final String TOKEN = "weather-token-4711";
    private static final Pattern URL = Pattern.compile("http://127\\.0\\.0\\.1:\\d+/");
    private static final Pattern GAP = Pattern.compile("Gap in topic (\\S+) partition .* ([0-9,]+) records? at most");
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final Duration ANSWER = Duration.ofSeconds(3);
    /** After this time without trouble a process must say that it is ready. */
    private static final Duration READY = Duration.ofSeconds(30);

    private static final Duration START = Duration.ofMinutes(2);

    private final List<String> command;
    private final ChildFolder folder = ChildFolder.create("millrace-weather-");
    private final List<Member> members;
    private final Judgement judgement;
    private final boolean mayForget;
    private volatile boolean wasKilled;
    private volatile boolean wasFrozen;

    /**
     * @param launcher the command {@code mirror}
     * @param twin runs in place of the mirror
     * @param judgement gets what processes do that nobody wanted
     */
    MirrorFleet(
            Path launcher, Climate climate, Optional<MirrorTwin> twin, Side source, Side target, Judgement judgement) {
        this.judgement = judgement;
        mayForget = climate.isForgottenByTheTarget();
        MirrorKind kind = climate.mirror();
        command = new ArrayList<>(List.of(
                "env",
                // The JVM starts faster, and these runs are short.
                "MIRROR_JAVA_OPTS=-Xmx512m -XX:TieredStopAtLevel=1"
                        + twin.map(this::agent).orElse(""),
                "MIRROR_HTTP_TOKEN=" + TOKEN,
                launcher.toString(),
                "run",
                "--consumer.config=" + file("source.properties", source.mirrorConfig()),
                "--producer.config=" + file("target.properties", target.mirrorConfig()),
                "--topics=" + TopicKind.PATTERN,
                "--group=" + GROUP,
                "--threads=" + kind.threads(),
                "--mode=" + kind.mode(),
                "--resume=" + kind.resume(),
                "--source-setting=group.protocol=" + kind.groupProtocol(),
                "--source-setting=metadata.max.age.ms=5000",
                "--target-setting=buffer.memory=" + kind.bufferBytes(),
                "--topic-prefix=" + kind.prefix(),
                "--http=0"));
        if (kind.choosesSession()) {
            command.add("--source-setting=session.timeout.ms=" + SESSION.toMillis());
            command.add("--source-setting=heartbeat.interval.ms=" + Side.HEARTBEAT_MS);
        }
        if (kind.hasGroups()) {
            command.add("--groups=" + ReaderGroup.NAME);
            command.add("--groups-interval=3s");
        }
        members = IntStream.range(0, kind.processes()).mapToObj(Member::new).toList();
    }

    private String agent(MirrorTwin twin) {
        Path jar = folder.path().resolve("twin.jar");
        twin.writeAgent(jar);
        return " -javaagent:" + jar;
    }

    private Path file(String name, Map<String, Object> settings) {
        Properties properties = new Properties();
        settings.forEach((key, value) -> properties.setProperty(key, value.toString()));
        Path file = folder.path().resolve(name);
        try (Writer out = Files.newBufferedWriter(file)) {
            properties.store(out, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    /** One place of the fleet, in which one process after the other runs. */
    final class Member {
        private final int number;
        private final List<CommandProcess> processes = new ArrayList<>();
        private boolean isWanted;
        private int exits;
        private Optional<Calm> calm = Optional.empty();

        /** What a process had in the calm. */
        private record Calm(long pid, Footprint footprint) {}

        private Member(int number) {
            this.number = number;
        }

        synchronized void start() {
            isWanted = true;
            processes.add(CommandProcess.start(folder, command));
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
        private synchronized void check() {
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
                            + String.join(
                                    "\n    ", lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size())));
        }

        /** Changes what it copies; if it does not answer, nobody minds. */
        void post(String change, String form) {
            var unused = ask(change, HttpRequest.BodyPublishers.ofString(form), "POST");
        }

        private int ask(String path, HttpRequest.BodyPublisher body, String method) {
            Optional<String> url = url();
            if (url.isEmpty()) {
                return 0;
            }
            HttpRequest request = HttpRequest.newBuilder(URI.create(url.get() + path))
                    .timeout(ANSWER)
                    .header("Authorization", "Bearer " + TOKEN)
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .method(method, body)
                    .build();
            try {
                return HTTP.send(request, HttpResponse.BodyHandlers.discarding())
                        .statusCode();
            } catch (IOException e) {
                return 0;
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

        private void noteFootprint() {
            calm = isReady() ? Optional.of(new Calm(pid(), Footprint.of(pid()))) : Optional.empty();
        }

        private synchronized long pid() {
            return present().pid();
        }

        private void judgeFootprint() {
            if (calm.isPresent() && calm.get().pid == pid() && isRunning()) {
                Footprint then = calm.get().footprint;
                Await.holdsWithin(READY, () -> Footprint.of(pid()).moreThan(then) == 0);
                Footprint now = Footprint.of(pid());
                judgement.found(
                        Rule.LEAKED, now.moreThan(then), this + " had " + then + " in the calm, and has " + now);
            }
        }

        private boolean isReady() {
            return ask("readyz", HttpRequest.BodyPublishers.noBody(), "GET") == 200;
        }

        private synchronized List<String> printed() {
            return processes.stream().flatMap(CommandProcess::printed).toList();
        }

        private synchronized void save(Path to) throws IOException {
            for (int i = 0; i < processes.size(); i++) {
                Files.write(
                        to.resolve("mirror-" + number + "-" + i + ".log"),
                        processes.get(i).printed().toList());
            }
        }

        private synchronized void close() {
            processes.forEach(CommandProcess::close);
        }

        @Override
        public String toString() {
            return "mirror " + number;
        }
    }

    /** Whether a process was killed, also because it did not end in time. */
    boolean wasKilled() {
        return wasKilled;
    }

    /** Whether a process was frozen, perhaps for longer than its session. */
    boolean wasFrozen() {
        return wasFrozen;
    }

    List<Member> members() {
        return members;
    }

    void start() {
        members.forEach(Member::start);
    }

    /** Call it often while processes run. */
    void check() {
        members.forEach(Member::check);
    }

    /** Stops all processes, one after the other. */
    void stop() throws InterruptedException {
        members.forEach(Member::awaitStarted);
        for (Member member : members) {
            member.stop(() -> false);
        }
    }

    /** Blocks until every process says that it is ready, for a while; judges those that do not. */
    void judgeReadiness() {
        for (Member member : members) {
            boolean isReady = Await.holdsWithin(READY, member::isReady);
            judgement.found(Rule.UNREADY, isReady ? 0 : 1, member + " says that it is not ready");
        }
    }

    /** Remembers what each process has now, when all is well. */
    void noteFootprints() {
        members.forEach(Member::noteFootprint);
    }

    /** Judges whether a process that has lived since then has more now; blocks while it may still close something. */
    void judgeFootprints() {
        members.forEach(Member::judgeFootprint);
    }

    /** Judges whether any process has told a secret. */
    void judgeSecrets() {
        List<String> telling = printed()
                .filter(line -> line.contains(Side.PASSWORD) || line.contains(TOKEN))
                .toList();
        judgement.found(Rule.TOLD_SECRET, telling.size(), String.join("; ", telling));
    }

    /** How many records of this topic processes have called missing, because the source no longer has them. */
    long named(String topic) {
        return printed()
                .map(GAP::matcher)
                .filter(Matcher::find)
                .filter(gap -> gap.group(1).equals(topic))
                .mapToLong(gap -> Long.parseLong(gap.group(2).replace(",", "")))
                .sum();
    }

    private Stream<String> printed() {
        return members.stream().flatMap(member -> member.printed().stream());
    }

    /** Writes what all processes have printed to files of this folder, which it creates. */
    void saveOutput(Path to) {
        try {
            Files.createDirectories(to);
            for (Member member : members) {
                member.save(to);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills all processes. */
    @Override
    public void close() {
        members.forEach(Member::close);
        folder.close();
    }
}
