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
 * The threads that own the connections: each has its own to every broker it needs, and its share of the partitions. The
 * first of them also asks the cluster for metadata and producer ids.
 *
 * <p><b>Threads:</b> built and started by one thread; then all methods by any.
 * <p><b>Ordering:</b> {@code stopping}, {@code forced} and {@code failure} are volatile and set before the selectors are
 * woken. The accumulator is closed before {@code stopping} is set, so that a round which sees it sees every record there
 * will be. The first thread ends last, for the others may still need what it asks for.
 */
public final class IoThreads {
    private static final Logger log = LoggerFactory.getLogger(IoThreads.class);

    private final IoContext first;
    private final MetadataRefresh metadata;
    private final Optional<TransactionDriver> driver;
    private final List<IoThread> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch others;
    private final CountDownLatch all;
    private volatile boolean stopping;
    private volatile boolean forced;
    private volatile Throwable failure;

    /**
     * Nothing runs yet.
     *
     * @param contexts one for each thread; they differ in hand-over and link only
     * @param ready the hand-overs of all of them
     * @param transactions empty without {@code transactional.id}
     */
    public IoThreads(
            List<IoContext> contexts,
            ReadyQueues ready,
            SenderSettings settings,
            Optional<TransactionState> transactions) {
        first = contexts.get(0);
        metadata = new MetadataRefresh(first, settings);
        ProducerIds ids = new ProducerIds(first, ready, settings);
        Enrolment enrolment = new Enrolment(first.ready()::wake);
        List<ThreadTransactions> shares = new ArrayList<>();
        driver = transactions.map(
                state -> new TransactionDriver(state, enrolment, shares, ids, first, settings.retryBackoff()));
        Errand idErrand = driver.isPresent() ? driver.get() : ids;
        for (IoContext context : contexts) {
            transactions.ifPresent(state -> shares.add(new ThreadTransactions(state, enrolment, first.ready()::wake)));
            TransactionShare share = shares.isEmpty() ? TransactionShare.NONE : shares.get(workers.size());
            Errand[] errands = workers.isEmpty() ? new Errand[] {metadata, idErrand} : new Errand[0];
            workers.add(new IoThread(context, settings, ids, metadata, share, errands));
        }
        driver.ifPresent(transactional -> first.link().onDisconnect(refusal -> {
            metadata.onDisconnect(refusal);
            transactional.onDisconnect(refusal);
        }));
        first.images().setChangeListener(ready::wake);
        others = new CountDownLatch(workers.size() - 1);
        all = new CountDownLatch(workers.size());
    }

    /** Gives the first thread something else to do. Before {@link #start}. */
    public void add(Errand errand) {
        workers.get(0).add(errand);
    }

    /** Asks the cluster what the application's threads want to know. */
    public MetadataRefresh metadata() {
        return metadata;
    }

    /**
     * Starts the threads. If one of them cannot be started, all end, and {@code onEnd} has run when this throws.
     *
     * @param name of the first; the others have their number behind it
     * @param onEnd run once, by the last of them, when all have ended
     */
    public void start(String name, Runnable onEnd) {
        start(name, onEnd, Thread::start);
    }

    /** As above; {@code starter} starts a thread. */
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

    /** The calling thread does what is left to do at the end, in the place of those that were not started. */
    private void endUnstarted(Runnable onEnd) {
        for (int i = workers.size() - 1; i >= 0; i--) {
            if (threads.get(i).getState() == Thread.State.NEW) {
                run(workers.get(i), i == 0, onEnd);
            }
        }
        if (awaitUninterruptibly(all)) {
            Thread.currentThread().interrupt(); // it is the application's
        }
    }

    private void run(IoThread worker, boolean isFirst, Runnable onEnd) {
        Runnable end = () -> end(worker, isFirst, onEnd); // made now, while there is memory
        try {
            while (!forced && !(stopping && worker.isIdle() && (!isFirst || others.getCount() == 0))) {
                worker.runOnce();
            }
        } catch (Throwable t) { // whatever it is: no record may be left without an outcome
            failure = t;
            forceShutdown();
            FailureLog.error(
                    log,
                    "{} failed; all records without an outcome fail with it",
                    Thread.currentThread().getName(),
                    t);
        } finally {
            IoThread.insist(end);
            countDown(isFirst); // whoever waits in close() must not wait for ever
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
            driver.ifPresent(transactional -> IoThread.insist(() -> transactional.end(reason)));
            awaitUninterruptibly(others);
            IoThread.quietly(onEnd);
        }
    }

    /** Tells whether the thread was interrupted meanwhile. */
    private static boolean awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                latch.await();
                ended = true;
            } catch (InterruptedException e) {
                log.debug("Interrupted while I/O threads end; they will", e);
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

    /** Whether the calling thread is one of these. */
    public boolean isCurrentThread() {
        return threads.contains(Thread.currentThread());
    }

    /** Sends what is buffered, then ends. Close the accumulator before. */
    public void shutdown() {
        stopping = true;
        workers.forEach(IoThread::wake);
    }

    /** Fails what has no outcome yet, then ends. */
    public void forceShutdown() {
        forced = true;
        workers.forEach(IoThread::wake);
    }

    /** Blocks until all have ended, but no longer than this; tells whether they have. */
    public boolean await(long timeoutMs) throws InterruptedException {
        return all.await(timeoutMs, TimeUnit.MILLISECONDS);
    }

    /** What ended the threads although nobody asked for it, or null. */
    public Throwable failure() {
        return failure;
    }
}
