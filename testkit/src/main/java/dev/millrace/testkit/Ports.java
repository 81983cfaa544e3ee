package dev.millrace.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Free TCP ports of 127.0.0.1, chosen below the range from which systems serve outgoing connections. From inside that
 * range some client could hold the port of a broker that is down, or even connect to itself there.
 */
final class Ports {
    private static final int FIRST = 10_000;
    private static final int LAST = 32_000;

    private Ports() {}

    /** Distinct ports that were free a moment ago; whoever binds them must be ready to lose a race and ask again. */
    static Queue<Integer> free(int count) {
        Set<Integer> ports = new LinkedHashSet<>();
        while (ports.size() < count) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            if (isFree(port)) {
                ports.add(port);
            }
        }
        return new ArrayDeque<>(ports);
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return probe.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
