package dev.millrace.client.io;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.Node;

/** Which brokers a producer can send to: for a while it may reach none of them, or one may throttle it. */
final class SimulatedNetwork {
    private static final int LONGEST_OUTAGE_MS = 5_000;
    private static final int LONGEST_THROTTLE_MS = 300;

    private final Random random;
    private final BooleanSupplier fault;
    private final SimulatedClocks clocks;
    private final Map<Integer, Long> throttledUntilMs = new HashMap<>();
    private long unreachableUntilMs = Long.MIN_VALUE;
    private boolean failing;
    private boolean throttling;

    SimulatedNetwork(Random random, BooleanSupplier fault, SimulatedClocks clocks) {
        this.random = random;
        this.fault = fault;
        this.clocks = clocks;
    }

    /** From here on no broker can be reached now and then. */
    void fail() {
        failing = true;
    }

    /** From here on brokers throttle the producer with some of their answers. */
    void throttle() {
        throttling = true;
    }

    /** Whether all connections break now, because no broker can be reached for a while. */
    boolean failsNow() {
        boolean fails = failing && isReachable() && fault.getAsBoolean() && random.nextInt(4) == 0;
        if (fails) {
            unreachableUntilMs = clocks.monotonicMs() + random.nextInt(LONGEST_OUTAGE_MS);
        }
        return fails;
    }

    boolean isReachable() {
        return clocks.monotonicMs() >= unreachableUntilMs;
    }

    /** A broker has answered. */
    void onAnswer(int node) {
        if (throttling && fault.getAsBoolean()) {
            throttledUntilMs.put(node, clocks.monotonicMs() + random.nextInt(LONGEST_THROTTLE_MS));
        }
    }

    boolean isReady(int node) {
        return isReachable() && clocks.monotonicMs() >= throttledUntilMs.getOrDefault(node, Long.MIN_VALUE);
    }

    /** Until the producer may look again; {@link Long#MAX_VALUE} if that depends on an event. */
    long delayMs(int node) {
        if (!isReachable()) {
            return 1L + random.nextInt(100); // the backoff before the next attempt to connect
        }
        return isReady(node) ? Long.MAX_VALUE : throttledUntilMs.get(node) - clocks.monotonicMs();
    }

    /** Null if none can be sent to, or sometimes one that has to be connected to first. */
    Node leastLoadedOrNull(List<Node> nodes) {
        List<Node> ready = nodes.stream().filter(node -> isReady(node.id())).toList();
        List<Node> chosen = ready.isEmpty() && !isReachable() && random.nextBoolean() ? nodes : ready;
        return chosen.isEmpty() ? null : chosen.get(random.nextInt(chosen.size()));
    }
}
