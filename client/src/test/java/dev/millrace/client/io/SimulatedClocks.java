package dev.millrace.client.io;

import java.util.Random;

/** The clocks of a simulation: the producer's monotonic one, its wall clock, and that of the brokers. */
final class SimulatedClocks {
    private static final int MINUTE_MS = 60_000;

    private long monotonicMs = 100 * SimulatedTopic.DAY_MS;

    /** How long the producer's machine has been suspended: its monotonic clock does not count that. */
    private long suspendedMs;

    /** By how much the producer's wall clock is wrong. */
    private long errorMs;

    long monotonicMs() {
        return monotonicMs;
    }

    long brokersMs() {
        return monotonicMs + suspendedMs;
    }

    long wallMs() {
        return brokersMs() + errorMs;
    }

    /** Nothing happens for so long. */
    void pass(long ms) {
        monotonicMs += ms;
    }

    /** The producer's machine is suspended for so long. */
    void suspend(long ms) {
        suspendedMs += ms;
    }

    /** The producer's process stands still for up to two minutes, or somebody sets its wall clock, by up to ten. */
    void jump(Random random) {
        if (random.nextBoolean()) {
            pass(random.nextInt(random.nextInt(2 * MINUTE_MS) + 1));
        } else {
            errorMs = random.nextInt(-10 * MINUTE_MS, 10 * MINUTE_MS);
        }
    }
}
