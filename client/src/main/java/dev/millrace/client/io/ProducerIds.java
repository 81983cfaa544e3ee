package dev.millrace.client.io;

import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The producer id and its epoch. A broker takes the batches of one id and epoch in the order of their sequences, each once
 * (KIP-98); a higher epoch starts over at sequence 0 (KIP-360).
 */
final class ProducerIds {
    static final long NO_ID = -1;
    static final short NO_EPOCH = -1;

    private static final Logger log = LoggerFactory.getLogger(ProducerIds.class);

    private final BrokerLink link;
    private final Backoff backoff;
    private final boolean idempotent;
    private long id = NO_ID;
    private short epoch = NO_EPOCH;
    private boolean asking;
    private int failures;
    private long notBeforeMs;
    private KafkaException refusal;

    ProducerIds(BrokerLink link, SenderSettings settings) {
        this.link = link;
        this.backoff = settings.retryBackoff();
        this.idempotent = settings.idempotent();
    }

    /** Whether batches can be stamped. */
    boolean isKnown() {
        return !idempotent || id != NO_ID;
    }

    long id() {
        return id;
    }

    short epoch() {
        return epoch;
    }

    /** Lets a partition start over at sequence 0. When the epochs are used up, another id is asked for. */
    void bumpEpoch() {
        if (epoch == Short.MAX_VALUE) {
            log.info("Producer id {} has used up its epochs; asking for another", id);
            id = NO_ID;
            epoch = NO_EPOCH;
        } else {
            epoch++;
            log.info("Producer id {} goes on with epoch {}", id, epoch);
        }
    }

    /** Asks unless an id is known or asked for; returns after how many milliseconds to call again. */
    long askIfNeeded(long nowMs) {
        if (isKnown() || asking) {
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

    /** Why the cluster gives us no id although asking again would not help; told once. */
    KafkaException takeRefusal() {
        KafkaException told = refusal;
        refusal = null;
        return told;
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
            id = givenId;
            epoch = givenEpoch;
            log.debug("Got producer id {} with epoch {}", id, epoch);
        }

        @Override
        public void onError(KafkaException error) {
            asking = false;
            failures++;
            notBeforeMs = askedMs + backoff.delayMs(failures);
            if (!(error instanceof RetriableException)) {
                refusal = error;
            }
        }
    }
}
