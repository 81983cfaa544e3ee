package dev.millrace.client.io;

import java.util.function.BiConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The broker that coordinates our transactions, or a consumer group: found when needed and again after it has moved.
 *
 * <p><b>Threads:</b> the first I/O thread.
 */
final class Coordinator {
    private static final Logger log = LoggerFactory.getLogger(Coordinator.class);

    private final BrokerLink link;
    private final TransactionLink transactions;
    private final String group;
    private final Backoff backoff;
    private final MonotonicClock clock;
    private final BiConsumer<Coordinator, KafkaException> onRefusal;
    private Node node;
    /** The broker to which a connection was last wanted: this coordinator, or a broker to ask where it is. */
    private Node wanted;

    private boolean connecting;
    private boolean finding;
    private int failures;
    private long notBeforeMs;

    /**
     * Represents the coordinator of our transactions, or of a group.
     *
     * @param group null for our transactions
     * @param onRefusal called with this object and the error if it cannot be found and asking again would not help
     */
    Coordinator(
            IoContext context,
            TransactionLink transactions,
            String group,
            Backoff backoff,
            BiConsumer<Coordinator, KafkaException> onRefusal) {
        this.link = context.link();
        this.clock = context.clock();
        this.transactions = transactions;
        this.group = group;
        this.backoff = backoff;
        this.onRefusal = onRefusal;
    }

    boolean isOfGroup(String other) {
        return other.equals(group);
    }

    /** Returns the broker. Call it only after {@link #connect} has returned 0. */
    Node node() {
        return node;
    }

    /** Whether the next request waits for a connection to this broker. */
    boolean isReachedThrough(int broker) {
        return wanted != null && wanted.id() == broker;
    }

    /** The coordinator has moved or cannot be reached, so it is looked up again before the next request. */
    void forget() {
        node = null;
    }

    /**
     * Finds the coordinator and connects. Returns 0 if a request can be sent to {@link #node} now, otherwise the
     * milliseconds until the next call.
     */
    long connect(long nowMs) {
        if (node == null) {
            return find(nowMs);
        }
        wanted = node;
        // This check precedes ready(), which without a reconnect backoff would start the next attempt and hide the
        // failure.
        boolean hasFailed = connecting && transactions.isUnreachable(node);
        connecting = false;
        if (!hasFailed && link.ready(node, nowMs)) {
            failures = 0;
            return 0;
        }
        if (hasFailed || transactions.isUnreachable(node)) {
            node = null;
            return Math.max(1, backOff(nowMs));
        }
        connecting = true;
        return waitMs(node, nowMs);
    }

    private long find(long nowMs) {
        if (finding) {
            return Long.MAX_VALUE;
        }
        if (nowMs < notBeforeMs) {
            return notBeforeMs - nowMs;
        }
        Node any = link.leastLoadedNode(nowMs);
        if (any == null) {
            return MetadataRefresh.NO_BROKER_WAIT_MS;
        }
        wanted = any;
        if (!link.ready(any, nowMs)) {
            return waitMs(any, nowMs);
        }
        finding = true;
        transactions.findCoordinator(any, group, this::onAnswer, nowMs);
        return Long.MAX_VALUE;
    }

    private long waitMs(Node unready, long nowMs) {
        return Math.max(1, Math.min(link.pollDelayMs(unready, nowMs), MetadataRefresh.NO_BROKER_WAIT_MS));
    }

    private void onAnswer(Node found, KafkaException error) {
        finding = false;
        if (error == null) {
            log.debug("The coordinator of {} is {}", group == null ? "our transactions" : "group " + group, found);
            node = found;
            connecting = false;
        } else if (error instanceof RetriableException) {
            backOff(clock.nowMs());
        } else {
            onRefusal.accept(this, error);
        }
    }

    private long backOff(long nowMs) {
        failures++;
        long delayMs = backoff.delayMs(failures);
        notBeforeMs = nowMs + delayMs;
        return delayMs;
    }
}
