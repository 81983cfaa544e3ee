package dev.millrace.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Finds free TCP ports of 127.0.0.1, below the range of ports that systems use for outgoing connections. In that range
 * a client could hold the port of a broker that is down, or even connect to itself there.
 *
 * <p>Each JVM hands out ports of its own range, one after the other. It keeps the range for its lifetime by listening
 * on the first port, so that no cluster of another JVM takes the port of a broker that is down.
 */
public final class Ports {
    private static final int FIRST = 10_000;
    private static final int RANGES = 22;
    private static final int RANGE_SIZE = 1_000;
    private static final ServerSocket RANGE = claimRange();

    private static int handedOut;

    private Ports() {}

    /**
     * Finds distinct ports that are free now. Another process may take one before the caller binds it.
     *
     * @throws IllegalStateException if fewer are free
     */
    public static synchronized Queue<Integer> findFree(int count) {
        Queue<Integer> ports = new ArrayDeque<>();
        for (int tried = 0; ports.size() < count; tried++) {
            if (tried == RANGE_SIZE) {
                throw new IllegalStateException("No " + count + " free ports after " + RANGE.getLocalPort());
            }
            int port = RANGE.getLocalPort() + 1 + handedOut++ % (RANGE_SIZE - 1);
            if (isFree(port)) {
                ports.add(port);
            }
        }
        return ports;
    }

    private static ServerSocket claimRange() {
        int start = ThreadLocalRandom.current().nextInt(RANGES);
        return IntStream.range(start, start + RANGES)
                .mapToObj(range -> listen(FIRST + range % RANGES * RANGE_SIZE))
                .flatMap(Optional::stream)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Every " + RANGE_SIZE + "th port from " + FIRST + " to "
                        + (FIRST + RANGES * RANGE_SIZE) + " is taken"));
    }

    private static boolean isFree(int port) {
        Optional<ServerSocket> probe = listen(port);
        probe.ifPresent(Ports::close);
        return probe.isPresent();
    }

    private static Optional<ServerSocket> listen(int port) {
        try {
            return Optional.of(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
        } catch (IOException taken) {
            return Optional.empty();
        }
    }

    private static void close(ServerSocket probe) {
        try {
            probe.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
