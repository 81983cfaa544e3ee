package dev.millrace.client.io;

import dev.millrace.client.accumulator.ReadyQueues;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The producer id and its epoch. For one id and epoch, a broker accepts batches in the order of their sequences, each
 * once (KIP-98); a higher epoch starts at sequence 0 (KIP-360).
 *
 * <p><b>Threads:</b> {@code current}, {@code bumpEpoch} and {@code refusal} by every I/O thread; the first one sends
 * the requests.
 * <p><b>Ordering:</b> id and epoch are one immutable pair, replaced by compare-and-set: if several partitions need a
 * new epoch at the same time, one of them bumps it for all.
 */
final class ProducerIds implements IoTask {
    private static final Logger log = LoggerFactory.getLogger(ProducerIds.class);

    private final BrokerLink link;
    private final ReadyQueues ready;
    private final Backoff backoff;
    private final AtomicReference<ProducerId> current;
    private volatile Refusal refusal;

    /** Only the first I/O thread uses this and the next two. */
    private boolean asking;

    private int failures;
    private long notBeforeMs;

    /** Sends requests through the link of {@code first}; an answer wakes all of {@code ready}. */
    ProducerIds(IoContext first, ReadyQueues ready, SenderSettings settings) {
        this.link = first.link();
        this.ready = ready;
        this.backoff = settings.retryBackoff();
        this.current = new AtomicReference<>(settings.idempotent() ? ProducerId.UNKNOWN : ProducerId.NONE);
    }

    ProducerId current() {
        return current.get();
    }

    /** Sets the id that a transaction's coordinator has given. */
    void replace(ProducerId next) {
        current.set(next);
    }

    /** Lets partitions start again at sequence 0. If all epochs are used, requests a new id. */
    void bumpEpoch(ProducerId from) {
        ProducerId next = from.bumped();
        if (current.compareAndSet(from, next)) {
            if (next.isKnown()) {
                log.info("Producer id {} goes on with epoch {}", next.id(), next.epoch());
            } else {
                log.info("Producer id {} has used up its epochs; asking for another", from.id());
                ready.wake();
            }
        }
    }

    @Override
    public long runIfDue(long nowMs) {
        if (current().isKnown() || asking) {
            return Long.MAX_VALUE;
        }
        if (nowMs < notBeforeMs) {
            return notBeforeMs - nowMs;
        }
        Node node = link.leastLoadedNode(nowMs);
        if (node == null) {
            return MetadataRefresh.NO_BROKER_WAIT_MS;
        }
        if (!link.ready(node, nowMs)) {
            return Math.min(link.pollDelayMs(node, nowMs), MetadataRefresh.NO_BROKER_WAIT_MS);
        }
        asking = true;
        link.initProducerId(node, new Answer(nowMs), nowMs);
        return Long.MAX_VALUE;
    }

    /** Returns the last refusal that a retry would not have solved; null if there was none. */
    Refusal refusal() {
        return refusal;
    }

    /**
     * A refusal; it fails the records that were buffered at the time of the request. Compared by identity, because
     * several refusals may have the same {@code error}.
     */
    static final class Refusal {
        final KafkaException error;
        final long askedMs;

        private Refusal(KafkaException error, long askedMs) {
            this.error = error;
            this.askedMs = askedMs;
        }
    }

    private final class Answer implements BrokerLink.ProducerIdHandler {
        private final long askedMs;

        Answer(long askedMs) {
            this.askedMs = askedMs;
        }

        @Override
        public void onProducerId(long givenId, short givenEpoch) {
            asking = false;
            failures = 0;
            current.set(new ProducerId(givenId, givenEpoch));
            log.debug("Got producer id {} with epoch {}", givenId, givenEpoch);
            ready.wake();
        }

        @Override
        public void onError(KafkaException error) {
            asking = false;
            failures++;
            notBeforeMs = askedMs + backoff.delayMs(failures);
            if (!(error instanceof RetriableException)) {
                refusal = new Refusal(error, askedMs);
                ready.wake();
            }
        }
    }
}
