package dev.millrace.testkit.cluster;

import java.util.Map;

/**
 * What is fixed about one broker for the life of its cluster.
 *
 * @param ports where it listens itself
 * @param proxyPort where clients of {@link Listener#PROXIED} find it
 */
record Node(int id, Map<Listener, Integer> ports, int controllerPort, int proxyPort) {
    String address(Listener listener) {
        return "127.0.0.1:" + ports.get(listener);
    }

    /** Where clients connect to. */
    String advertisedAddress(Listener listener) {
        return listener == Listener.PROXIED ? "127.0.0.1:" + proxyPort : address(listener);
    }
}
