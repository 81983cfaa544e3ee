package dev.millrace.testkit;

import java.util.Map;

/** What is fixed about one broker for the life of its cluster: its id and the ports of its listeners. */
record Node(int id, Map<Listener, Integer> ports, int controllerPort) {
    String address(Listener listener) {
        return "127.0.0.1:" + ports.get(listener);
    }
}
