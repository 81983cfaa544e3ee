package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.MirrorException;

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
