package dev.millrace.mirror.refused;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/**
 * A {@link StretchReader} for each thread that copies with care. It is kept, because a topic of which many records are
 * refused would otherwise cost a consumer, with its connections, for each batch.
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

    /** That of the calling thread, which is made if it has none. */
    StretchReader ofThread() {
        StretchReader reader = ofThread.get();
        if (reader == null) {
            reader = create.apply(created.getAndIncrement());
            ofThread.set(reader);
        }
        return reader;
    }

    /** Closes that of the calling thread, which has failed or is not needed any more. */
    void closeOfThread() {
        StretchReader reader = ofThread.get();
        if (reader != null) {
            ofThread.remove();
            reader.close();
        }
    }
}
