package dev.millrace.weather;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.CommandProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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
    private static final Duration START = Duration.ofMinutes(2);

    private final List<String> command;
    private final ChildFolder folder = ChildFolder.create("millrace-weather-");
    private final List<Member> members;
    private final List<String> findings = new ArrayList<>();

    /** @param launcher the command {@code mirror} */
    MirrorFleet(Path launcher, MirrorKind kind, Side source, Side target) {
        command = List.of(
                "env",
                // The JVM starts faster, and these runs are short.
                "MIRROR_JAVA_OPTS=-Xmx512m -XX:TieredStopAtLevel=1",
                launcher.toString(),
                "run",
                "--source=" + servers(source),
                "--target=" + servers(target),
                "--topics=weather-.*",
                "--group=" + GROUP,
                "--threads=" + kind.threads(),
                "--mode=" + kind.mode(),
                "--resume=" + kind.resume(),
                "--source-setting=session.timeout.ms=" + SESSION.toMillis(),
                "--source-setting=heartbeat.interval.ms=1500",
                "--source-setting=metadata.max.age.ms=5000",
                "--target-setting=buffer.memory=" + kind.bufferMegabytes() * 1_000_000,
                "--topic-prefix=" + kind.prefix());
        members = IntStream.range(0, kind.processes()).mapToObj(Member::new).toList();
    }

    private static String servers(Side side) {
        return side.proxies().stream().map(proxy -> "127.0.0.1:" + proxy.port()).collect(Collectors.joining(","));
    }

    /** One place of the fleet, in which one process after the other runs. */
    final class Member {
        private final int number;
        private final List<CommandProcess> processes = new ArrayList<>();
        private boolean isWanted;

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
            isWanted = false;
            present().kill().awaitExit(STOP);
        }

        synchronized void freeze() {
            if (isRunning()) {
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
                note(this + " has ended by itself");
                isWanted = false;
                if (exits() <= MOST_EXITS) {
                    start();
                }
            }
        }

        private void note(String what) {
            List<String> lines = present().printed().toList();
            synchronized (findings) {
                findings.add(what + ". Its last lines:\n    "
                        + String.join("\n    ", lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size())));
            }
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

    /** How many processes have ended by themselves, or badly. */
    int exits() {
        synchronized (findings) {
            return findings.size();
        }
    }

    List<String> findings() {
        synchronized (findings) {
            return List.copyOf(findings);
        }
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
