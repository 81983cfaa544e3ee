package dev.millrace.client.io;

import static dev.millrace.client.io.TransactionPhase.ABORTABLE_ERROR;
import static dev.millrace.client.io.TransactionPhase.ABORTING;
import static dev.millrace.client.io.TransactionPhase.COMMITTING;
import static dev.millrace.client.io.TransactionPhase.FATAL_ERROR;
import static dev.millrace.client.io.TransactionPhase.INITIALIZING;
import static dev.millrace.client.io.TransactionPhase.IN_TRANSACTION;
import static dev.millrace.client.io.TransactionPhase.READY;
import static dev.millrace.client.io.TransactionPhase.UNINITIALIZED;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of a transactional producer: the application's calls and their outcomes.
 *
 * <p><b>Threads:</b> the upper half by the application's threads, the lower by the I/O threads. Sends take no lock:
 * they pass the {@link SendGate}, which is open only in a transaction.
 * <p><b>Ordering:</b> {@code view} is immutable and replaced under the lock. A new transaction is in {@code view}
 * before the gate opens, and the gate is closed before its end is in {@code view}. So a thread that reads a view other
 * than {@code IN_TRANSACTION}, and then finds the gate empty, sees every record of the transaction, and no later one
 * can enter. {@code closedToRecords} is set after the accumulator is closed, so a thread that reads it sees them too.
 */
public final class TransactionState {
    private static final Logger log = LoggerFactory.getLogger(TransactionState.class);

    private static final String INIT = "initTransactions";
    private static final String COMMIT = "commitTransaction";
    private static final String ABORT = "abortTransaction";

    private final String transactionalId;
    private final Runnable wakeIo;
    private final SendGate gate;
    private final ReentrantLock lock = new ReentrantLock();
    private final TransactionFacts facts = new TransactionFacts();
    private final Queue<OffsetsCall> offsets = new ConcurrentLinkedQueue<>();
    private volatile View view = new View(UNINITIALIZED, 0, null);

    /**
     * Under the lock: the newest call of init, commit or abort; no other call is allowed until a caller has been told
     * its outcome.
     */
    private TransactionCall pending;

    private volatile boolean closed;

    /** Whether no send can append a record any more, even one still inside the gate. Written under the lock. */
    private volatile boolean closedToRecords;

    /**
     * Creates the state of a producer that is not initialized.
     *
     * @param wakeIo called whenever there may be something to do for the I/O threads
     */
    public TransactionState(String transactionalId, Runnable wakeIo) {
        this.transactionalId = transactionalId;
        this.wakeIo = wakeIo;
        this.gate = new SendGate(wakeIo);
    }

    /**
     * What the I/O threads read.
     *
     * @param number of the transaction, counted from 1
     * @param error in the two error phases, else null
     */
    record View(TransactionPhase phase, long number, RuntimeException error) {}

    // ---- the application's threads ----

    /** Starts what the {@code Producer} method of this name does; wait for what is returned. */
    public TransactionCall initTransactions() {
        return lockedGet(() -> {
            throwIfError();
            return isPending(INIT) ? pending : startCall(INIT, INITIALIZING, view.phase == UNINITIALIZED);
        });
    }

    /** Does what the {@code Producer} method of this name does, without blocking. */
    public void beginTransaction() {
        locked(() -> {
            throwIfPending("beginTransaction");
            throwIfError();
            throwUnless(view.phase == READY, "beginTransaction");
            view = new View(IN_TRANSACTION, view.number + 1, null);
            gate.open();
        });
    }

    /** Starts what the {@code Producer} method of this name does; wait for what is returned. */
    public TransactionCall commitTransaction() {
        return lockedGet(() -> {
            if (isPending(COMMIT)) {
                return pending;
            }
            throwIfPending(COMMIT);
            throwIfError();
            return startCall(COMMIT, COMMITTING, view.phase == IN_TRANSACTION);
        });
    }

    /** Starts what the {@code Producer} method of this name does; wait for what is returned. */
    public TransactionCall abortTransaction() {
        return lockedGet(() -> {
            if (isPending(ABORT)) {
                return pending;
            }
            throwIfPending(ABORT);
            if (view.phase == FATAL_ERROR) {
                throwIfError();
            }
            return startCall(ABORT, ABORTING, view.phase == IN_TRANSACTION || view.phase == ABORTABLE_ERROR);
        });
    }

    /** Starts what the {@code Producer} method of this name does; wait for what is returned. */
    public TransactionCall sendOffsetsToTransaction(
            Map<TopicPartition, OffsetAndMetadata> offsetsByPartition, ConsumerGroupMetadata group) {
        return lockedGet(() -> {
            throwIfPending("sendOffsetsToTransaction");
            throwIfError();
            throwUnless(view.phase == IN_TRANSACTION, "sendOffsetsToTransaction");
            OffsetsCall call = new OffsetsCall(offsetsByPartition, group);
            offsets.add(call);
            wakeIo.run();
            return call.call;
        });
    }

    /**
     * Admits a send to the open transaction, which does not end before {@link #exitSend}.
     *
     * @throws IllegalStateException no transaction is open
     * @throws KafkaException the transaction or the producer has failed
     */
    public void enterSend() {
        if (!gate.tryEnter()) {
            refuseSend();
        }
    }

    /** The send has appended its record, or failed. */
    public void exitSend() {
        gate.exit();
    }

    private void refuseSend() {
        locked(() -> {
            throwIfError();
            throwIfPending("send");
            throwUnless(false, "send");
        });
    }

    /** Allows no further transaction or record; an open transaction will be aborted. */
    public void close() {
        locked(() -> {
            gate.close();
            closed = true;
            wakeIo.run();
        });
    }

    /** The accumulator is closed, so no send can append a record and the transaction waits for none. */
    public void closeToRecords() {
        locked(() -> {
            closedToRecords = true;
            wakeIo.run();
        });
    }

    /**
     * A record of an admitted send is refused, so the transaction cannot be committed any more. Ignored if the
     * transaction does not wait for the send: it may have been committed already.
     */
    public void onSendRefused(RuntimeException error) {
        locked(() -> {
            if (!closedToRecords) {
                onRecordFailed(error);
            }
        });
    }

    private TransactionCall startCall(String name, TransactionPhase next, boolean allowed) {
        throwUnless(allowed, name);
        pending = new TransactionCall(name);
        enter(next, null);
        return pending;
    }

    private boolean isPending(String name) {
        return pending != null && !pending.isObserved() && pending.name().equals(name);
    }

    private void throwIfPending(String operation) {
        if (pending != null && !pending.isObserved()) {
            throw new IllegalStateException("Cannot call " + operation + ": the outcome of " + pending.name()
                    + " is not known yet; it has to be called again first");
        }
    }

    private void throwUnless(boolean allowed, String operation) {
        if (closed) {
            throw new IllegalStateException("Cannot perform operation after producer has been closed");
        }
        if (!allowed) {
            throw new IllegalStateException(
                    "Cannot call " + operation + " in state " + view.phase + " of transactional.id " + transactionalId);
        }
    }

    private void throwIfError() {
        RuntimeException error = view.error;
        if (error instanceof ProducerFencedException) {
            throw new ProducerFencedException(
                    "Another producer with transactional.id " + transactionalId + " has taken the place of this one");
        }
        if (error instanceof InvalidProducerEpochException) {
            throw new InvalidProducerEpochException(
                    "A record was sent under an old epoch of transactional.id " + transactionalId);
        }
        if (error != null) {
            throw new KafkaException("The transaction cannot go on because of an error before", error);
        }
    }

    // ---- any thread ----

    /** A record of the transaction has failed, so the transaction cannot be committed any more. */
    void onRecordFailed(RuntimeException error) {
        if (TransactionErrors.isFatalForRecords(error)) {
            failFatally(error);
            return;
        }
        locked(() -> {
            if (view.phase == IN_TRANSACTION) {
                facts.noteFailed(TransactionFacts.Failed.UNNUMBERED); // at the least
            }
            failAbortably(TransactionErrors.abortableForRecords(error));
        });
    }

    // ---- the I/O threads ----

    View view() {
        return view;
    }

    /** Returns what is known about the transaction of {@link #view}. */
    TransactionFacts facts() {
        return facts;
    }

    /** Whether every record of the current transaction, which is no longer open, is in the accumulator. */
    boolean hasAllSends() {
        return closedToRecords || gate.isEmpty();
    }

    boolean isClosed() {
        return closed;
    }

    /** Returns the offsets to commit; the first I/O thread removes them. */
    Queue<OffsetsCall> offsets() {
        return offsets;
    }

    /** The producer has an id. */
    void onInitialized() {
        finish(INITIALIZING, READY, null);
    }

    /** Initializing was refused; the application may try again. */
    void onInitRefused(RuntimeException reason) {
        finish(INITIALIZING, UNINITIALIZED, reason);
    }

    /** The coordinator has ended the transaction. */
    void onEnded() {
        finish(view.phase == COMMITTING ? COMMITTING : ABORTING, READY, null);
    }

    private void finish(TransactionPhase expected, TransactionPhase next, RuntimeException reason) {
        locked(() -> {
            if (view.phase == expected) { // otherwise an error came first
                enter(next, null);
                if (reason == null) {
                    pending.complete();
                } else {
                    pending.fail(reason);
                }
            }
        });
    }

    /** Marks the transaction so that it can only be aborted. Ignored if there is nothing to abort. */
    void failAbortably(RuntimeException error) {
        locked(() -> {
            if (view.phase == INITIALIZING) {
                onInitRefused(error);
            } else if (view.phase == IN_TRANSACTION || view.phase == COMMITTING) {
                log.info("The transaction must be aborted: {}", error.toString());
                fail(ABORTABLE_ERROR, error);
            }
        });
    }

    /** Marks the producer so that it can only be closed. */
    void failFatally(RuntimeException error) {
        locked(() -> {
            if (view.phase != FATAL_ERROR) {
                log.info("No more transactions are possible: {}", error.toString());
                fail(FATAL_ERROR, error);
            }
        });
    }

    private void fail(TransactionPhase next, RuntimeException error) {
        enter(next, error);
        if (pending != null) {
            pending.fail(error);
        }
    }

    /** Aborts the open transaction of a closed producer, because the application can no longer end it. */
    void abortOnClose() {
        locked(() -> {
            if (view.phase == IN_TRANSACTION || view.phase == ABORTABLE_ERROR) {
                log.info("Aborting the open transaction of a producer that is being closed");
                pending = new TransactionCall(ABORT);
                enter(ABORTING, null);
            }
        });
    }

    private void enter(TransactionPhase next, RuntimeException error) {
        gate.close();
        view = new View(next, view.number, error);
        wakeIo.run();
    }

    private void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    private <T> T lockedGet(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }
}
