package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.MirrorException;
import dev.millrace.testkit.mirrormaker.MavenJars;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;

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
                File.pathSeparator, release.classPath(), place(MirrorMakerRun.class), place(MirrorException.class));
    }

    private static String place(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
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
