package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.MirrorException;
import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.process.ClassLocation;
import java.io.File;

/**
 * A release of MirrorMaker, which {@link MirrorMakerRun} runs.
 *
 * <p><b>Threads:</b> one.
 */
interface MirrorMaker extends AutoCloseable {
    /**
     * Mirrors the demo's topic in a process of its own. Blocks until that has ended.
     *
     * @param contender a MirrorMaker of this release
     * @param listener hears how far the run is
     * @throws MirrorException with the last lines that it printed, when it fails
     */
    Measurement.Figures run(Contender contender, Job job, RunListener listener);

    /** Deletes its temporary files. */
    @Override
    void close();

    /**
     * The class path of a release, followed by the jars or class folders of the demo and of the mirror: {@link
     * MirrorMakerRun} is in one, and what it needs of {@link DemoProcess} in both.
     */
    static String classPath(MavenJars release) {
        return String.join(
                File.pathSeparator,
                release.classPath(),
                ClassLocation.of(MirrorMakerRun.class).toString(),
                ClassLocation.of(MirrorException.class).toString());
    }

    /**
     * One run.
     *
     * @param source bootstrap servers
     * @param target bootstrap servers
     * @param group another one for each run
     * @param threads how many consumers, which MirrorMaker calls streams or tasks
     * @param load what the source has
     */
    record Job(String source, String target, String group, int threads, DemoLoad load) {}
}
