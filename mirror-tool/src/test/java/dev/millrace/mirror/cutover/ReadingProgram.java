package dev.millrace.mirror.cutover;

import java.util.List;
import java.util.Map;

/** A program that reads a topic in a group, commits what it has read, and knows of no mirror. */
interface ReadingProgram extends AutoCloseable {
    /** How many records it has read. */
    long count();

    /**
     * Adds the timestamps of what it has read of each partition, in order; each record has its own. To be called after
     * {@link #stop}.
     */
    void addTo(Map<Integer, List<Long>> all);

    /** Commits, and reads no more. */
    void stop();

    @Override
    void close();
}
