package dev.millrace.client.io;

/**
 * When a leader has last shown that it knows the producer. That counts for {@link BrokerMemory#AFTER_ANSWER_MS}, by both
 * clocks: the monotonic one stands still while the machine is suspended, and somebody may set the wall clock back.
 *
 * <p><b>Threads:</b> one I/O thread.
 */
final class AnswerTime {
    private static final long NEVER = Long.MIN_VALUE / 2;

    private final BrokerMemory memory;
    private long monotonicMs = NEVER;
    private long wallMs = NEVER;

    AnswerTime(BrokerMemory memory) {
        this.memory = memory;
    }

    void note(long nowMs) {
        monotonicMs = nowMs;
        wallMs = memory.wallMs();
    }

    void forget() {
        monotonicMs = NEVER;
    }

    boolean isRecent(long nowMs) {
        return nowMs - monotonicMs < BrokerMemory.AFTER_ANSWER_MS
                && memory.wallMs() - wallMs < BrokerMemory.AFTER_ANSWER_MS;
    }
}
