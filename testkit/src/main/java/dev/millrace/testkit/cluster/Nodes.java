package dev.millrace.testkit.cluster;

import dev.millrace.testkit.Ports;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The nodes of a cluster. They do not change while it exists.
 *
 * <p>The first brokers are controllers, too, unless {@link KafkaCluster.Builder#kafkaDefaults()} asks for controllers
 * in JVMs of their own, as most users have. With those, a cluster of one broker takes 1.1 s of CPU more to start, and
 * one of three 5 s.
 *
 * @param brokers with the ids 1 to their number
 * @param controllers the first brokers, or nodes of their own
 */
record Nodes(List<Node> brokers, List<Node> controllers) {
    /** Controllers of their own have ids that no test takes for a broker's. */
    private static final int FIRST_CONTROLLER = 1001;

    /** Finds free ports for all nodes. */
    static Nodes of(ClusterSpec spec) {
        List<Listener> proxied =
                spec.listeners().stream().filter(Listener::isProxied).toList();
        int number = spec.brokers().number();
        int controllers = BrokerSettings.controllers(number);
        boolean areApart = spec.brokers().areKafkaDefaults();
        Queue<Integer> ports =
                Ports.findFree(number * (spec.listeners().size() + proxied.size() + 1) + (areApart ? controllers : 0));
        List<Node> brokers = IntStream.rangeClosed(1, number)
                .mapToObj(id -> {
                    Map<Listener, Integer> ofBroker = new EnumMap<>(Listener.class);
                    spec.listeners().forEach(listener -> ofBroker.put(listener, ports.remove()));
                    Map<Listener, Integer> ofProxies = new EnumMap<>(Listener.class);
                    proxied.forEach(listener -> ofProxies.put(listener, ports.remove()));
                    return new Node(id, ofBroker, ports.remove(), ofProxies);
                })
                .toList();
        if (!areApart) {
            return new Nodes(brokers, brokers.subList(0, controllers));
        }
        return new Nodes(
                brokers,
                IntStream.range(FIRST_CONTROLLER, FIRST_CONTROLLER + controllers)
                        .mapToObj(id -> new Node(id, Map.of(), ports.remove(), Map.of()))
                        .toList());
    }

    /** Each node once. */
    List<Node> all() {
        return Stream.concat(brokers.stream(), controllers.stream()).distinct().toList();
    }
}
