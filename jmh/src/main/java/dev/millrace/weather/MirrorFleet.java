package dev.millrace.weather;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.process.ChildFolder;
import dev.millrace.testkit.process.CommandProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;

/**
 * The processes of one mirror. It starts again what has ended although nobody wanted that, and notes it.
 *
 * <p><b>Threads:</b> any; one process is handled by one thread at a time.
 */
final class MirrorFleet implements AutoCloseable {
    /** The consumer group of the mirror. */
    static final String GROUP = "weather";

    /** Short, so that others take over soon. */
    static final Duration SESSION = Duration.ofSeconds(6);

    /** Appears nowhere else, as {@link Side#PASSWORD}. */
    static final String TOKEN = "weather-token-4711";

    private static final String ALL_TOPICS = "--topics=" + TopicKind.PATTERN;

    private static final Duration COMMAND = Duration.ofMinutes(5);

    private static final Pattern GAP = Pattern.compile("Gap in topic (\\S+) partition .* ([0-9,]+) records? at most");

    private final List<String> command;
    private final List<String> options;
    private final List<String> runOptions = new ArrayList<>(List.of(ALL_TOPICS, "--http=0"));
    private final ChildFolder folder = ChildFolder.create("millrace-weather-");
    private final List<MirrorMember> members;
    private final Judgement judgement;
    private volatile boolean wasSetBack;

    /**
     * @param launcher the command {@code mirror}
     * @param twin runs in place of the mirror
     * @param judgement gets what processes do that nobody wanted
     */
    MirrorFleet(
            Path launcher, Climate climate, Optional<MirrorTwin> twin, Side source, Side target, Judgement judgement) {
        this.judgement = judgement;
        MirrorKind kind = climate.mirror();
        command = List.of(
                "env",
                // The JVM starts faster, and these runs are short.
                "MIRROR_JAVA_OPTS=-Xmx512m -XX:TieredStopAtLevel=1"
                        + twin.map(this::agent).orElse(""),
                "MIRROR_HTTP_TOKEN=" + TOKEN,
                launcher.toString());
        options = new ArrayList<>(List.of(
                "--consumer.config=" + file("source.properties", source.mirrorConfig()),
                "--producer.config=" + file("target.properties", target.mirrorConfig()),
                "--group=" + GROUP,
                "--threads=" + kind.threads(),
                "--mode=" + kind.mode(),
                "--resume=" + kind.resume(),
                "--source-setting=group.protocol=" + kind.groupProtocol(),
                "--source-setting=metadata.max.age.ms=5000",
                "--target-setting=buffer.memory=" + kind.bufferBytes(),
                "--topic-prefix=" + kind.prefix(),
                "--on-refused=" + kind.onRefused()));
        if (kind.choosesSession()) {
            options.add("--source-setting=session.timeout.ms=" + SESSION.toMillis());
            options.add("--source-setting=heartbeat.interval.ms=" + Side.HEARTBEAT_MS);
        }
        if (climate.start() == Start.END_OF_EMPTY_TOPICS) {
            options.add("--source-setting=auto.offset.reset=latest");
        }
        if (kind.hasGroups()) {
            options.add("--groups=" + ReaderGroup.NAME);
            options.add("--groups-interval=3s");
        }
        if (kind.hasSettings()) {
            options.add("--sync=settings");
            options.add("--sync-interval=3s");
        }
        members = IntStream.range(0, kind.processes())
                .mapToObj(number -> new MirrorMember(
                        number,
                        () -> launch("run", runOptions.toArray(String[]::new)),
                        climate.isForgottenByTheTarget(),
                        judgement))
                .toList();
    }

    private CommandProcess launch(String name, String... more) {
        return CommandProcess.start(
                folder,
                Stream.of(command.stream(), Stream.of(name), options.stream(), Stream.of(more))
                        .flatMap(part -> part)
                        .toList());
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

    /** Whether a process was killed, also because it did not end in time. */
    boolean wasKilled() {
        return members.stream().anyMatch(MirrorMember::wasKilled);
    }

    /** Whether a process was frozen, perhaps for longer than its session. */
    boolean wasFrozen() {
        return members.stream().anyMatch(MirrorMember::wasFrozen);
    }

    /** Whether somebody set its group back. */
    boolean wasSetBack() {
        return wasSetBack;
    }

    /** Somebody sets its group back. */
    void setBack() {
        wasSetBack = true;
    }

    /**
     * Has a partition of the source copied again from this offset on, by the command for that; no process must run.
     *
     * @param mayFail whether a cluster was away
     */
    void rewind(TopicPartition partition, long offset, BooleanSupplier mayFail) throws InterruptedException {
        // The members of a process that was killed are in the group for as long as a session.
        try (CommandProcess rewind = launch(
                "rewind",
                "--topics=" + Pattern.quote(partition.topic()),
                "--partitions=" + partition.partition(),
                "--to=" + offset,
                "--yes")) {
            var unused = judgeEnd(
                    rewind, "rewind", code -> code == 0 || (code == 1 && (mayFail.getAsBoolean() || wasKilled())));
        }
    }

    /**
     * Moves to the target while all processes run, stops them, and turns the direction; returns whether that is done. Requires
     * that nothing is broken, and that the target equals the source.
     */
    boolean cutOver() throws InterruptedException {
        try (CommandProcess cutover =
                launch("cutover", ALL_TOPICS, "--quiet=1s", "--give-up-after=2m", "--keep-way-back", "--yes")) {
            Await.holdsWithin(COMMAND, () -> cutover.hasPrinted("stop the mirror now") || !cutover.isAlive());
            stop(() -> false);
            return judgeEnd(cutover, "cutover", code -> code == 0);
        }
    }

    /** Starts all processes in the other direction, once it is turned. */
    void startBack() {
        runOptions.add("--back");
        members.forEach(MirrorMember::start);
    }

    /** Judges whether a process that would copy to the target again refuses to start, though no other runs. */
    void judgeRefusal() throws InterruptedException {
        try (CommandProcess run = launch("run", ALL_TOPICS)) {
            var unused = judgeEnd(run, "run", code -> code == 1 && run.hasPrinted("turned the direction"));
        }
    }

    /** Blocks until a command has ended, and judges how; returns whether that is right. */
    private boolean judgeEnd(CommandProcess process, String name, IntPredicate isRight) throws InterruptedException {
        try {
            int code = process.awaitExit(COMMAND);
            if (isRight.test(code)) {
                return true;
            }
            judgement.found(
                    Rule.EXIT, 1, "mirror " + name + " has ended with exit code " + code + ": " + process.output());
        } catch (AssertionError e) {
            judgement.found(Rule.EXIT, 1, "mirror " + name + " has not ended within " + COMMAND.toMinutes() + " min");
        }
        return false;
    }

    List<MirrorMember> members() {
        return members;
    }

    /** Starts all processes, the others once the first has done this. */
    void start(Runnable untilFirstIsReady) {
        members.get(0).start();
        untilFirstIsReady.run();
        members.stream().skip(1).forEach(MirrorMember::start);
    }

    /** Has the processes begin there at their first start, as {@code --start-at} does. */
    void startAt(String where) {
        options.add("--start-at=" + where);
    }

    /** Call it often while processes run. */
    void check() {
        members.forEach(MirrorMember::check);
    }

    /** Has all processes copy nothing; one that does not answer may go on. */
    void pause() {
        members.forEach(member -> member.post("pause", ""));
    }

    /** Has all processes go on after a pause. */
    void resume() {
        members.forEach(member -> member.post("resume", ""));
    }

    /**
     * Stops all processes, one after the other.
     *
     * @param mayFail whether a cluster was away, so that exit code 1 is right
     */
    void stop(BooleanSupplier mayFail) throws InterruptedException {
        members.forEach(MirrorMember::awaitStarted);
        for (MirrorMember member : members) {
            member.stop(mayFail);
        }
    }

    /** Blocks until every process says that it is ready, or time runs out; judges those that do not. */
    void judgeReadiness(Duration bound) {
        members.forEach(member -> member.judgeReadiness(bound));
    }

    /** Remembers what each process has now, when all is well. */
    void noteFootprints() {
        members.forEach(MirrorMember::noteFootprint);
    }

    /** Judges whether a process that has lived since then has more now; blocks while it may still close something. */
    void judgeFootprints() {
        members.forEach(MirrorMember::judgeFootprint);
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

    /** Writes what all processes have printed to files of a folder, which it creates and returns. */
    Path saveOutput(String prefix) {
        try {
            Path all = Files.createDirectories(Path.of(System.getProperty("java.io.tmpdir"), "millrace-weather"));
            Path to = Files.createTempDirectory(all, prefix);
            for (MirrorMember member : members) {
                member.save(to);
            }
            return to;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills all processes. */
    @Override
    public void close() {
        members.forEach(MirrorMember::close);
        folder.close();
    }
}
