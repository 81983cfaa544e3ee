package dev.millrace.testkit.cluster;

import java.util.Map;

/**
 * The id and the ports of one broker or controller; they do not change while its cluster exists.
 *
 * @param ports on which the broker itself listens
 * @param proxyPorts to which those connect that use a proxied listener
 */
record Node(int id, Map<Listener, Integer> ports, int controllerPort, Map<Listener, Integer> proxyPorts) {
    /** Whether it serves clients; a node that does not is a controller only. */
    boolean isBroker() {
        return !ports.isEmpty();
    }

    String address(Listener listener) {
        return "127.0.0.1:" + ports.get(listener);
    }

    /** The address to which clients connect. */
    String advertisedAddress(Listener listener) {
        return listener.isProxied() ? "127.0.0.1:" + proxyPorts.get(listener) : address(listener);
    }
}
