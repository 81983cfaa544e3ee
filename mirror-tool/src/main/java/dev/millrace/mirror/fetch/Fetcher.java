package dev.millrace.mirror.fetch;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches whole record batches of any number of partitions with one thread and hands them to a {@link FetchSink}. The
 * batches of a partition arrive in order and without gaps, except where {@link FetchSink#onOffsetReset} reports one.
 *
 * <p><b>Threads:</b> any thread may call any method. {@link #unassign} and {@link #close} wait for the fetch thread, so
 * the caller must hold no lock that the sink takes; called by the sink itself, they do not wait.
 * <p><b>Ordering:</b> a command is queued before the fetch thread is woken; that thread reads the queue after it wakes.
 */
public final class Fetcher implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Fetcher.class);

    /** How long a round waits if nothing happens. */
    private static final long MAX_WAIT_MS = 1_000;

    private final FetchLoop loop;
    private final FetchSink sink;
    private final Runnable wakeup;
    private final List<AutoCloseable> closeWithIt;
    private final Thread thread;
    private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean started;
    private volatile boolean closing;

    /**
     * Called by {@code dev.millrace.mirror.kafka.SourceFetchers}, which opens the network. Closes {@code link} and
     * {@code closeWithIt} at the end of its thread.
     *
     * @param loop the loop that uses {@code link}
     */
    public Fetcher(FetchLoop loop, FetchLink link, FetchSink sink, List<AutoCloseable> closeWithIt) {
        this.loop = loop;
        this.sink = sink;
        this.wakeup = link::wakeup;
        this.closeWithIt = closeWithIt;
        this.thread = new Thread(this::run, "millrace-mirror-fetch");
        thread.setDaemon(true);
    }

    /** Starts the thread. */
    public void start() {
        started = true;
        thread.start();
    }

    /**
     * Fetches a partition from this offset on. To move an assigned partition, unassign it first: otherwise batches from
     * the old offset may still arrive until the fetch thread handles the call.
     *
     * @param leaderEpoch of the record before the offset; with it, a truncation of the log is detected (KIP-320)
     */
    public void assign(TopicPartition partition, long offset, Optional<Integer> leaderEpoch) {
        assign(partition, offset, leaderEpoch, Uuid.ZERO_UUID);
    }

    /**
     * Does the same for the topic with this id.
     *
     * @param topicId zero for whichever topic has the name when its partitions are looked up
     */
    public void assign(TopicPartition partition, long offset, Optional<Integer> leaderEpoch, Uuid topicId) {
        OptionalInt epoch = leaderEpoch.map(OptionalInt::of).orElseGet(OptionalInt::empty);
        execute(() -> loop.assign(partition, offset, epoch, topicId));
    }

    /** Stops fetching these partitions. After it returns, nothing more of them is delivered. */
    public void unassign(Collection<TopicPartition> partitions) {
        List<TopicPartition> copy = List.copyOf(partitions);
        CountDownLatch done = new CountDownLatch(1);
        execute(() -> {
            copy.forEach(loop::unassign);
            done.countDown();
        });
        boolean interrupted = false;
        while (started && Thread.currentThread() != thread && done.getCount() > 0 && ended.getCount() > 0) {
            try {
                if (done.await(MAX_WAIT_MS, TimeUnit.MILLISECONDS)) {
                    break;
                }
            } catch (InterruptedException e) {
                interrupted = true; // this method's promise matters more than its speed
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Asks the sink again how far ahead to fetch each partition. Does not wait for that. */
    public void refresh() {
        execute(loop::placeAll);
    }

    private void execute(Runnable command) {
        if (Thread.currentThread() == thread) {
            command.run();
        } else {
            commands.add(command);
            wakeup.run();
        }
    }

    /** Returns the offset to be fetched next; empty if the partition is not assigned. */
    public OptionalLong position(TopicPartition partition) {
        FetchPartition found = loop.find(partition);
        return found == null ? OptionalLong.empty() : OptionalLong.of(found.offset());
    }

    /**
     * Returns the offset up to which the source has records to fetch, as of the last answer; empty before the first.
     * With {@code read_committed}, an open transaction and what follows it do not count.
     */
    public OptionalLong end(TopicPartition partition) {
        return loop.end(partition);
    }

    /** Whether {@link #end} is recent: the source still answers and the partition is being fetched. */
    public boolean isEndCurrent(TopicPartition partition) {
        return loop.isEndCurrent(partition);
    }

    private void run() {
        try {
            while (!closing) {
                for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                    command.run();
                }
                loop.runOnce(MAX_WAIT_MS);
            }
        } catch (Throwable t) {
            log.error("The fetch thread has failed", t);
            sink.onFailure(null, new IllegalStateException("The fetch thread has failed: " + t, t)); // never retriable
        } finally {
            end();
        }
    }

    private void end() {
        try {
            loop.close();
            for (AutoCloseable part : closeWithIt) {
                part.close();
            }
        } catch (Exception e) {
            log.warn("The connections to the source could not be closed", e);
        } finally {
            ended.countDown();
        }
    }

    /** Closes the connections, ends the thread and waits at most this long for that. */
    public void close(Duration timeout) {
        closing = true;
        if (!started) {
            if (ended.getCount() > 0) {
                end();
            }
            return;
        }
        wakeup.run();
        if (Thread.currentThread() != thread) {
            try {
                thread.join(Math.max(1, timeout.toMillis()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(30));
    }
}
