package dev.millrace.profile;

import dev.millrace.race.RacerJvm;
import dev.millrace.race.RacerRunner;
import dev.millrace.testkit.process.ClassLocation;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import one.profiler.AsyncProfiler;

/** Profiles producers while they send, in a new JVM for each producer and mode. */
final class ProducerProfiler {
    /** Narrower frames, in percent of the width, are left out of the HTML flame graphs, to keep the files small. */
    private static final String MIN_FRAME_PERCENT = "0.3";

    private final RacerRunner runner;
    private final int threads;
    private final Path folder;
    private final String engine;

    /**
     * @param threads how many threads share the producer
     * @param folder where to write flame graphs
     * @param engine a result of {@link #bestEngine}
     */
    ProducerProfiler(RacerRunner runner, int threads, Path folder, String engine) {
        this.runner = runner;
        this.threads = threads;
        this.folder = folder;
        this.engine = engine;
    }

    /**
     * The best way to take CPU samples here: {@code perf_events} if the system permits it, which containers often do
     * not; else {@code ctimer}, which does not see into the kernel; on macOS {@code itimer}.
     *
     * @throws LinkageError if async-profiler does not run on this system
     */
    static String bestEngine() throws IOException {
        String events = AsyncProfiler.getInstance().execute("list");
        if (events.contains("Perf events:")) {
            return "perf_events";
        }
        return events.contains("ctimer") ? "ctimer" : "itimer";
    }

    /**
     * Blocks for some seconds, and writes {@code MODE-PRODUCER.html}.
     *
     * @throws dev.millrace.race.RaceException if the producer fails
     */
    Profile profile(RacerJvm racer, ProfileMode mode) throws IOException {
        Path stacks = Files.createTempFile("millrace-profile-", ".collapsed");
        try {
            Path graph = folder.resolve(mode.lowerCaseName() + "-" + racer.name() + ".html")
                    .toAbsolutePath();
            List<String> options = ProfiledRacer.options(
                    "start," + event(mode) + mode.options(),
                    "collapsed,total,file=" + stacks,
                    "flamegraph,total,title=" + racer.name() + " " + mode.lowerCaseName() + ",minwidth="
                            + MIN_FRAME_PERCENT + (mode == ProfileMode.WALL ? ",include=*Producer.send" : "") + ",file="
                            + graph);
            String samples = runner.run(withProfiler(racer), threads, ProfiledRacer.class, options);
            CollapsedStacks all = CollapsedStacks.parse(Files.readString(stacks));
            return new Profile(
                    racer.name(),
                    mode,
                    runner.records(),
                    Long.parseLong(samples),
                    engine,
                    // Threads outside send wait most of the time.
                    mode == ProfileMode.WALL ? all.filter(SendStage.SEND::contains) : all);
        } finally {
            Files.deleteIfExists(stacks);
        }
    }

    private String event(ProfileMode mode) {
        return mode != ProfileMode.CPU ? "" : "event=" + (engine.equals("perf_events") ? "cpu" : engine) + ",";
    }

    private static RacerJvm withProfiler(RacerJvm racer) {
        return new RacerJvm(
                racer.name(),
                racer.producerClass(),
                racer.classPath() + File.pathSeparator + ClassLocation.of(AsyncProfiler.class));
    }
}
