package dev.millrace.testkit.proxy;

import dev.millrace.testkit.Ports;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A long, slow line to one port: all connections share the bytes per second of each direction, and each byte arrives half
 * a round trip after it was carried. Put it between a {@link FaultProxy} and its broker with {@link FaultProxy#setTarget}.
 *
 * <p><b>Threads:</b> any.
 */
public final class SlowLink implements AutoCloseable {
    private static final int CHUNK_BYTES = 8 << 10;
    private static final int SOCKET_BYTES = 64 << 10;
    private static final Chunk END = new Chunk(new byte[0], 0);

    private final int targetPort;
    private final long delayNanos;
    private final ServerSocket server;
    private final Direction out;
    private final Direction back;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    /** Bytes that arrive at this time. */
    private record Chunk(byte[] bytes, long atNanos) {}

    /** Listens on a free port of 127.0.0.1 in front of {@code targetPort} there. */
    public SlowLink(int targetPort, long bytesPerSecond, Duration roundTrip) {
        this(targetPort, bytesPerSecond, bytesPerSecond, roundTrip);
    }

    /**
     * As above, with a rate for each direction.
     *
     * @param toTarget bytes per second
     * @param fromTarget bytes per second
     */
    public SlowLink(int targetPort, long toTarget, long fromTarget, Duration roundTrip) {
        this.targetPort = targetPort;
        this.out = new Direction(toTarget);
        this.back = new Direction(fromTarget);
        this.delayNanos = roundTrip.toNanos() / 2;
        try {
            this.server = new ServerSocket();
            server.bind(new InetSocketAddress(
                    InetAddress.getLoopbackAddress(), Ports.findFree(1).remove()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start("slow-link", this::acceptAll);
    }

    /** The port of 127.0.0.1 on which it listens. */
    public int port() {
        return server.getLocalPort();
    }

    /** The port of 127.0.0.1 in front of which it is. */
    public int targetPort() {
        return targetPort;
    }

    /** Closes all connections and accepts no more. */
    @Override
    public void close() {
        closeQuietly(server);
        sockets.forEach(SlowLink::closeQuietly);
    }

    private void acceptAll() {
        try {
            while (true) {
                connect(server.accept());
            }
        } catch (IOException e) {
            close();
        }
    }

    /** A client whose target refuses it is closed, as it would be without the link. */
    private void connect(Socket client) {
        Socket target = new Socket();
        sockets.add(client);
        sockets.add(target);
        try {
            for (Socket each : new Socket[] {client, target}) {
                each.setTcpNoDelay(true);
                each.setReceiveBufferSize(SOCKET_BYTES); // or it would take in seconds of what is to be carried
            }
            target.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort));
        } catch (IOException e) {
            forget(client);
            forget(target);
            return;
        }
        carry(client, target, out);
        carry(target, client, back);
    }

    private void forget(Socket socket) {
        closeQuietly(socket);
        sockets.remove(socket);
    }

    private void carry(Socket from, Socket to, Direction direction) {
        BlockingQueue<Chunk> onTheWay = new LinkedBlockingQueue<>();
        start("slow-link-in", () -> takeIn(from, direction, onTheWay));
        start("slow-link-out", () -> giveOut(onTheWay, to));
    }

    private void takeIn(Socket from, Direction direction, BlockingQueue<Chunk> onTheWay) {
        byte[] buffer = new byte[CHUNK_BYTES];
        try {
            InputStream in = from.getInputStream();
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                long carried = direction.carry(read);
                sleepUntil(carried);
                onTheWay.add(new Chunk(Arrays.copyOf(buffer, read), carried + delayNanos));
            }
        } catch (IOException e) {
            // Closed by one of the two ends.
        }
        onTheWay.add(END);
    }

    @SuppressWarnings("ReferenceEquality") // there is one end
    private void giveOut(BlockingQueue<Chunk> onTheWay, Socket to) {
        try {
            OutputStream out = to.getOutputStream();
            for (Chunk next = onTheWay.take(); next != END; next = onTheWay.take()) {
                sleepUntil(next.atNanos);
                out.write(next.bytes);
            }
        } catch (IOException e) {
            // Closed by one of the two ends.
        } catch (InterruptedException e) {
            throw new IllegalStateException("Interrupted, though nothing interrupts this thread", e);
        } finally {
            forget(to);
        }
    }

    private static void sleepUntil(long atNanos) {
        for (long left = atNanos - System.nanoTime(); left > 0; left = atNanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(AutoCloseable socket) {
        try {
            socket.close();
        } catch (Exception e) {
            // It is closed all the same.
        }
    }

    /** One of the two, which all connections share. */
    private static final class Direction {
        private final long bytesPerSecond;
        private long freeAtNanos = System.nanoTime();

        Direction(long bytesPerSecond) {
            this.bytesPerSecond = bytesPerSecond;
        }

        /** Returns when so many bytes have been carried, after all that came before. */
        synchronized long carry(int bytes) {
            freeAtNanos = Math.max(freeAtNanos, System.nanoTime())
                    + (long) (TimeUnit.SECONDS.toNanos(1) * ((double) bytes / bytesPerSecond));
            return freeAtNanos;
        }
    }
}
