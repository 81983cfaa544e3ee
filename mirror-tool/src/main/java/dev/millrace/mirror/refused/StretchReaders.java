package dev.millrace.mirror.refused;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/**
 * A {@link StretchReader} for each thread that searches for refused records. It is kept, because otherwise each batch
 * would cost a consumer, with its connections, in a topic of which many records are refused.
 *
 * <p><b>Threads:</b> any; each has its own.
 */
public final class StretchReaders {
    private final IntFunction<StretchReader> create;
    private final AtomicInteger created = new AtomicInteger();

    @SuppressWarnings("ThreadLocalUsage") // each mirror in a process has its own
    private final ThreadLocal<StretchReader> ofThread = new ThreadLocal<>();

    /** @param create is given the reader's number */
    public StretchReaders(IntFunction<StretchReader> create) {
        this.create = create;
    }

    /** Returns the reader of the calling thread, and creates it if there is none. */
    StretchReader ofThread() {
        StretchReader reader = ofThread.get();
        if (reader == null) {
            reader = create.apply(created.getAndIncrement());
            ofThread.set(reader);
        }
        return reader;
    }

    /** Closes the reader of the calling thread if it has failed or is not needed any more. */
    void closeOfThread() {
        StretchReader reader = ofThread.get();
        if (reader != null) {
            ofThread.remove();
            reader.close();
        }
    }
}
