package dev.millrace.mirror.fetch;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.Node;

/**
 * The two fetch sessions of one broker, each with its own connection: one for partitions that get records, and one for
 * those that have received none for a while.
 *
 * <p><b>Threads:</b> the fetch thread, except where a method says otherwise.
 */
final class BrokerFetches {
    /** How long a broker waits for data at first, while another partition may have to be added to the session. */
    private static final int SHORT_WAIT_MS = 4;

    private final int id;
    private final Side hot = new Side(this, false);
    private final Side cold = new Side(this, true);
    private final List<FetchPartition> cooling = new ArrayList<>();

    BrokerFetches(int id) {
        this.id = id;
    }

    int id() {
        return id;
    }

    Side hot() {
        return hot;
    }

    Side cold() {
        return cold;
    }

    Side side(boolean isCold) {
        return isCold ? cold : hot;
    }

    /**
     * Returns the partitions to move to the cold session when it can send a request; until then the hot one has them.
     */
    List<FetchPartition> cooling() {
        return cooling;
    }

    /** One session with its outstanding request. */
    static final class Side {
        private final BrokerFetches broker;
        private final boolean isCold;
        private final FetchSession session = new FetchSession();
        private boolean waiting;
        private int reserved;
        private int failures;
        private long notBeforeMs = Long.MIN_VALUE;
        private volatile long answeredMs = Long.MIN_VALUE / 2;
        private int shortWaitMs = SHORT_WAIT_MS;

        private Side(BrokerFetches broker, boolean isCold) {
            this.broker = broker;
            this.isCold = isCold;
        }

        BrokerFetches broker() {
            return broker;
        }

        boolean isCold() {
            return isCold;
        }

        FetchSession session() {
            return session;
        }

        Node connection(Node node) {
            return isCold ? FetchLink.secondConnection(node) : node;
        }

        /** Whether a request has not been answered yet. */
        boolean isWaiting() {
            return waiting;
        }

        /**
         * How long the broker may wait: only briefly while {@code someAreAway}, since they could not be added
         * meanwhile.
         */
        int maxWaitMs(FetchSettings settings, boolean someAreAway) {
            if (isCold) {
                return settings.cold().maxWaitMs();
            }
            int longest = settings.request().maxWaitMs();
            return someAreAway ? Math.min(shortWaitMs, longest) : longest;
        }

        void onRequest(int reservedBytes) {
            waiting = true;
            reserved = reservedBytes;
        }

        /** The request has been answered or never will be. */
        void onAnswer(FetchMemory memory) {
            waiting = false;
            memory.cancelReservation(reserved);
            reserved = 0;
        }

        /** Lengthens the wait while no data arrives. */
        void lengthenWait() {
            shortWaitMs = Math.min(2 * shortWaitMs, 1 << 20);
        }

        void shortenWait() {
            shortWaitMs = SHORT_WAIT_MS;
        }

        /** The session must begin again at the given time. */
        void onFailure(FetchMemory memory, long tryAgainMs) {
            onAnswer(memory);
            failures++;
            notBeforeMs = tryAgainMs;
            session.restart();
            lengthenWait();
        }

        /** Returns the number of failures in a row. */
        int failures() {
            return failures;
        }

        void onSuccess(long nowMs) {
            failures = 0;
            answeredMs = nowMs;
        }

        /** Returns when the broker last answered. Any thread may call it. */
        long answeredMs() {
            return answeredMs;
        }

        /** Returns when the next request may be sent. */
        long notBeforeMs() {
            return notBeforeMs;
        }
    }
}
