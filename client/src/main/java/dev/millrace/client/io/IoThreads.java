package dev.millrace.client.io;

import dev.millrace.client.accumulator.FailureLog;
import dev.millrace.client.accumulator.ReadyQueues;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The I/O threads. Each has its own connections to the brokers it needs, and its share of the partitions. The first one
 * also asks the cluster for metadata and producer ids.
 *
 * <p><b>Threads:</b> constructed and started by one thread; after that all methods by any.
 * <p><b>Ordering:</b> {@code stopping}, {@code forced} and {@code failure} are volatile and set before the selectors
 * are woken. The accumulator is closed before {@code stopping} is set, so that a round that sees it sees every record.
 * The first thread ends last, because the others may still need metadata or a producer id.
 */
public final class IoThreads {
    private static final Logger log = LoggerFactory.getLogger(IoThreads.class);

    private final IoContext first;
    private final MetadataRefresh metadata;
    private final Optional<TransactionDriver> driver;
    private final ProducerIds ids;
    private final List<IoThread> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch others;
    private final CountDownLatch all;
    private volatile boolean stopping;
    private volatile boolean forced;
    private volatile Throwable failure;

    /**
     * Creates the threads without starting them.
     *
     * @param contexts one context per thread; they differ only in ready queue and link
     * @param ready the ready queues of all of them
     * @param transactions empty without {@code transactional.id}
     */
    public IoThreads(
            List<IoContext> contexts,
            ReadyQueues ready,
            SenderSettings settings,
            Optional<TransactionState> transactions) {
        first = contexts.get(0);
        metadata = new MetadataRefresh(first, settings);
        ids = new ProducerIds(first, ready, settings);
        TransactionPartitions partitions = new TransactionPartitions(first.ready()::wake);
        List<IoThreadTransactionShare> shares = new ArrayList<>();
        driver = transactions.map(
                state -> new TransactionDriver(state, partitions, shares, ids, first, settings.retryBackoff()));
        IoTask idTask = driver.isPresent() ? driver.get() : ids;
        for (IoContext context : contexts) {
            transactions.ifPresent(
                    state -> shares.add(new IoThreadTransactionShare(state, partitions, first.ready()::wake)));
            TransactionShare share = shares.isEmpty() ? TransactionShare.NONE : shares.get(workers.size());
            IoTask[] tasks = workers.isEmpty() ? new IoTask[] {metadata, idTask} : new IoTask[0];
            workers.add(new IoThread(context, settings, ids, metadata, share, tasks));
            context.link().onRebootstrapRequired(this::startOver);
        }
        driver.ifPresent(transactional -> first.link().onDisconnect((refusal, node) -> {
            metadata.onDisconnect(refusal);
            transactional.onDisconnect(refusal, node);
        }));
        first.images().setChangeListener(ready::wake);
        others = new CountDownLatch(workers.size() - 1);
        all = new CountDownLatch(workers.size());
    }

    /** Connections of the other threads may lead to the wrong cluster as well. */
    private void startOver() {
        workers.forEach(IoThread::disconnectSoon);
        metadata.requestRebootstrap();
    }

    /** Adds a task to the first thread. Call it only before {@link #start}. */
    public void add(IoTask task) {
        workers.get(0).add(task);
    }

    /** Asks the cluster for metadata that the application's threads need. */
    public MetadataRefresh metadata() {
        return metadata;
    }

    /** Returns the producer id and epoch; unknown until the cluster has given them. */
    public ProducerId producerId() {
        return ids.current();
    }

    /**
     * Starts the threads. If one cannot be started, all end, and {@code onEnd} has run when this throws.
     *
     * @param name name of the first; the others' names end with their number
     * @param onEnd run once, by the last of them, when all have ended
     */
    public void start(String name, Runnable onEnd) {
        start(name, onEnd, Thread::start);
    }

    /** Does the same; {@code starter} starts a thread. */
    void start(String name, Runnable onEnd, Consumer<Thread> starter) {
        for (int i = 0; i < workers.size(); i++) {
            IoThread worker = workers.get(i);
            boolean isFirst = i == 0;
            Thread thread = new Thread(() -> run(worker, isFirst, onEnd), isFirst ? name : name + "-" + i);
            thread.setDaemon(true);
            threads.add(thread);
        }
        try {
            threads.forEach(starter);
        } catch (RuntimeException | Error e) {
            failure = e;
            forceShutdown();
            endUnstarted(onEnd);
            throw e;
        }
    }

    /** Runs, on the calling thread, the end of the threads that were not started. */
    private void endUnstarted(Runnable onEnd) {
        for (int i = workers.size() - 1; i >= 0; i--) {
            if (threads.get(i).getState() == Thread.State.NEW) {
                run(workers.get(i), i == 0, onEnd);
            }
        }
        if (awaitUninterruptibly(all)) {
            Thread.currentThread().interrupt(); // this is the application's thread
        }
    }

    private void run(IoThread worker, boolean isFirst, Runnable onEnd) {
        Runnable end = () -> end(worker, isFirst, onEnd); // allocated now, while there is memory
        try {
            while (!forced && !(stopping && worker.isIdle() && (!isFirst || others.getCount() == 0))) {
                worker.runOnce();
            }
        } catch (Throwable t) { // a failure of any kind: every record needs an outcome
            failure = t;
            forceShutdown();
            FailureLog.error(
                    log,
                    "{} failed; all records without an outcome fail with it",
                    Thread.currentThread().getName(),
                    t);
        } finally {
            IoThread.runWithRetries(end);
            countDown(isFirst); // a thread in close() must not wait forever
        }
    }

    private void countDown(boolean isFirst) {
        if (isFirst) {
            all.countDown();
        } else {
            others.countDown();
            all.countDown();
            workers.get(0).wake();
        }
    }

    private void end(IoThread worker, boolean isFirst, Runnable onEnd) {
        first.accumulator().close();
        first.images().close();
        RuntimeException reason = reasonToFail();
        worker.end(reason);
        if (isFirst) {
            driver.ifPresent(transactional -> IoThread.runWithRetries(() -> transactional.end(reason)));
            awaitUninterruptibly(others);
            IoThread.runQuietly(onEnd);
        }
    }

    /** Waits, and returns whether the thread was interrupted meanwhile. */
    private static boolean awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                latch.await();
                ended = true;
            } catch (InterruptedException e) {
                log.debug("Interrupted while waiting for the I/O threads to end; waiting goes on", e);
                interrupted = true;
            }
        }
        return interrupted;
    }

    private RuntimeException reasonToFail() {
        return failure == null
                ? new KafkaException("Producer is closed forcefully.")
                : new KafkaException("The producer's I/O thread failed", failure);
    }

    /** Whether the calling thread is an I/O thread. */
    public boolean isCurrentThread() {
        return threads.contains(Thread.currentThread());
    }

    /** Sends the buffered records, then ends the threads. Close the accumulator first. */
    public void shutdown() {
        stopping = true;
        workers.forEach(IoThread::wake);
    }

    /** Fails the records without an outcome, then ends the threads. */
    public void forceShutdown() {
        forced = true;
        workers.forEach(IoThread::wake);
    }

    /** Blocks until all threads have ended; returns false if that took longer than {@code timeoutMs}. */
    public boolean await(long timeoutMs) throws InterruptedException {
        if (!all.await(timeoutMs, TimeUnit.MILLISECONDS)) {
            return false;
        }
        for (Thread thread : threads) {
            thread.join(); // it has nothing left to do, but a servlet container warns of threads that are still alive
        }
        return true;
    }

    /** Returns the exception that ended the threads, or null. */
    public Throwable failure() {
        return failure;
    }
}
