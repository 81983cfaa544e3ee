package dev.millrace.testkit.cluster;

import java.util.Map;

/**
 * The id and the ports of one broker; they do not change while its cluster exists.
 *
 * @param ports on which the broker itself listens
 * @param proxyPort to which clients of {@link Listener#PROXIED} connect
 */
record Node(int id, Map<Listener, Integer> ports, int controllerPort, int proxyPort) {
    String address(Listener listener) {
        return "127.0.0.1:" + ports.get(listener);
    }

    /** The address to which clients connect. */
    String advertisedAddress(Listener listener) {
        return listener == Listener.PROXIED ? "127.0.0.1:" + proxyPort : address(listener);
    }
}
