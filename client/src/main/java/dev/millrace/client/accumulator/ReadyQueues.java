package dev.millrace.client.accumulator;

import java.util.ArrayList;
import java.util.List;

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

    /** Creates ready queues for this many I/O threads. */
    public static ReadyQueues forThreads(int ioThreads) {
        List<ReadyQueue> queues = new ArrayList<>();
        for (int thread = 0; thread < ioThreads; thread++) {
            queues.add(new ReadyQueue());
        }
        return new ReadyQueues(List.copyOf(queues));
    }

    /** Wraps the queue of a single I/O thread. */
    public static ReadyQueues of(ReadyQueue single) {
        return new ReadyQueues(List.of(single));
    }

    public ReadyQueue get(int ioThread) {
        return queues.get(ioThread);
    }

    public int size() {
        return queues.size();
    }

    /** Assigns partitions round-robin in the order of their first use, so that all threads get equally many. */
    ReadyQueue ofPartition(int id) {
        return queues.get(id % queues.size());
    }

    /** Ends every I/O thread's wait, or prevents its next one. */
    public void wake() {
        queues.forEach(ReadyQueue::wake);
    }
}
