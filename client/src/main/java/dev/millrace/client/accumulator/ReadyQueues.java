package dev.millrace.client.accumulator;

import java.util.List;
import java.util.stream.IntStream;

/**
 * One ready queue per I/O thread. A partition always belongs to the same one, so that its batches and callbacks are
 * handled by one thread.
 *
 * <p><b>Threads:</b> immutable.
 */
public final class ReadyQueues {
    private final List<ReadyQueue> queues;

    private ReadyQueues(List<ReadyQueue> queues) {
        this.queues = queues;
    }

    /** Ready queues for this many I/O threads. */
    public static ReadyQueues forThreads(int ioThreads) {
        return new ReadyQueues(IntStream.range(0, ioThreads)
                .mapToObj(thread -> new ReadyQueue())
                .toList());
    }

    /** For a single I/O thread. */
    public static ReadyQueues of(ReadyQueue single) {
        return new ReadyQueues(List.of(single));
    }

    public ReadyQueue get(int ioThread) {
        return queues.get(ioThread);
    }

    public int size() {
        return queues.size();
    }

    /** Assigns partitions round-robin in the order of their first use, so that threads get equally many. */
    ReadyQueue ofPartition(int id) {
        return queues.get(id % queues.size());
    }

    /** Ends every I/O thread's wait, or prevents its next one. */
    public void wake() {
        queues.forEach(ReadyQueue::wake);
    }
}
