package dev.millrace.client.accumulator;

import java.util.List;
import java.util.stream.IntStream;

/**
 * One hand-over for each I/O thread. A partition belongs to the same one for ever, so that its batches and callbacks never
 * meet on two threads.
 *
 * <p><b>Threads:</b> immutable.
 */
public final class ReadyQueues {
    private final List<ReadyQueue> queues;

    private ReadyQueues(List<ReadyQueue> queues) {
        this.queues = queues;
    }

    /** Hand-overs for so many I/O threads. */
    public static ReadyQueues forThreads(int ioThreads) {
        return new ReadyQueues(IntStream.range(0, ioThreads)
                .mapToObj(thread -> new ReadyQueue())
                .toList());
    }

    /** The hand-over of one I/O thread. */
    public static ReadyQueues of(ReadyQueue single) {
        return new ReadyQueues(List.of(single));
    }

    public ReadyQueue get(int ioThread) {
        return queues.get(ioThread);
    }

    public int size() {
        return queues.size();
    }

    /** Partitions are dealt out in the order of their first use, so that each thread gets as many as the next. */
    ReadyQueue ofPartition(int id) {
        return queues.get(id % queues.size());
    }

    /** Ends every I/O thread's wait, or keeps the next one from beginning. */
    public void wake() {
        queues.forEach(ReadyQueue::wake);
    }
}
