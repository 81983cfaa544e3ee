package dev.millrace.testkit.proxy;

import dev.millrace.testkit.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.protocol.ApiKeys;

/**
 * A TCP proxy in front of one broker that breaks connections on command: at once, or at the next request of a kind. It
 * cuts the traffic into requests and responses, so it is for connections without TLS. {@link
 * dev.millrace.testkit.cluster.KafkaCluster#proxy(int)} has one for each broker, which clients of {@link dev.millrace.testkit.cluster.Listener#PROXIED} reach the broker by.
 *
 * <pre>{@code
 * CompletableFuture<Void> dropped = cluster.proxy(1).atNext(ApiKeys.PRODUCE, FaultProxy.Fault.DROP_RESPONSE);
 * producer.send(record);
 * dropped.get(); // the record is written, and the connection was reset instead of a response
 * }</pre>
 *
 * <p>Any thread may call any method. No thread and no connection outlives {@link #close()}.
 */
public final class FaultProxy implements AutoCloseable {
    /** What passes through all connections, the present and the coming ones; what does not pass is kept, not lost. */
    public enum Flow {
        /** Everything. */
        BOTH,
        /** Brokers do what they are asked to, and nobody hears of it. */
        REQUESTS_ONLY,
        /** A black hole: connections are accepted, nothing passes. */
        NOTHING
    }

    /** What happens to one request and its connection. */
    public enum Fault {
        /** Reset before the broker sees any of the request. */
        RESET_BEFORE,
        /** Reset after half of the request's bytes: the broker cannot act on it. */
        RESET_WITHIN,
        /** Reset as soon as the broker has all of it: it very likely acts on it. */
        RESET_AFTER,
        /** The broker has acted on it and has responded; the client gets a reset instead of the response. */
        DROP_RESPONSE
    }

    private final int port;
    private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();
    private final Deque<Strike> strikes = new ArrayDeque<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile int targetPort;
    private volatile long bytesPerSecond = Long.MAX_VALUE;
    private Flow flow = Flow.BOTH;
    private ServerSocket server;
    private Thread acceptor;

    /** Listens on {@code port} of 127.0.0.1 in front of {@code targetPort} there; may be started before its target. */
    public FaultProxy(int port, int targetPort) {
        this.port = port;
        this.targetPort = targetPort;
        accept();
    }

    /** A proxy on a free port in front of {@code targetPort} of 127.0.0.1. */
    public static FaultProxy to(int targetPort) {
        return new FaultProxy(Ports.free(1).remove(), targetPort);
    }

    /** Where it listens, on 127.0.0.1. */
    public int port() {
        return port;
    }

    /** How many connections it has accepted so far. */
    public int accepted() {
        return accepted.get();
    }

    /** Where new connections lead from now on: a port of 127.0.0.1. */
    public void target(int newTargetPort) {
        targetPort = newTargetPort;
    }

    /**
     * Lets {@code fault} happen to the next request of this kind that has no fault waiting for it yet, on whichever
     * connection.
     *
     * @return completed when it has happened
     */
    public CompletableFuture<Void> atNext(ApiKeys request, Fault fault) {
        Strike strike = new Strike(request, fault, new CompletableFuture<>());
        synchronized (strikes) {
            strikes.add(strike);
        }
        return strike.done();
    }

    /** Says what passes from now on. What was kept goes on when it may. */
    public synchronized void flow(Flow newFlow) {
        flow = newFlow;
        notifyAll();
    }

    /** A slow link: each connection carries so many bytes a second each way, from 1; {@code Long.MAX_VALUE} is full speed. */
    public void bytesPerSecond(long newBytesPerSecond) {
        bytesPerSecond = newBytesPerSecond;
    }

    /** Resets all connections; the next ones are accepted. */
    public void resetAll() {
        connections.forEach(ProxyConnection::reset);
    }

    /** Leaves clients of all present connections with a peer that is gone without a word; the next ones work. */
    public void halfOpenAll() {
        connections.forEach(ProxyConnection::halfOpen);
    }

    /** Refuses new connections until {@link #accept()}; the present ones stay. */
    public synchronized void refuse() {
        if (server == null) {
            return;
        }
        try {
            server.close();
            server = null;
            acceptor.join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while closing the proxy's port", e);
        }
    }

    /** Accepts connections again after {@link #refuse()}. */
    public synchronized void accept() {
        if (server != null) {
            return;
        }
        try {
            ServerSocket opened = new ServerSocket();
            opened.setReuseAddress(true);
            opened.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            server = opened;
            acceptor = new Thread(() -> acceptAll(opened), "fault-proxy-" + port);
            acceptor.setDaemon(true);
            acceptor.start();
        } catch (IOException e) {
            // In the broker's words, so that the cluster knows what to do about it.
            throw new IllegalStateException("Address already in use: " + port, e);
        }
    }

    /** Resets all connections and refuses new ones; blocks until all threads have ended. */
    @Override
    public void close() {
        refuse();
        for (ProxyConnection connection : connections) {
            connection.reset();
            connection.awaitEnd();
        }
    }

    private void acceptAll(ServerSocket from) {
        while (true) {
            try {
                Socket client = from.accept();
                accepted.incrementAndGet();
                ProxyConnection connection = new ProxyConnection(this, client, targetPort);
                connections.add(connection);
                connection.start();
            } catch (SocketException e) {
                return; // closed by refuse()
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    // ---- for the connections ----

    void ended(ProxyConnection connection) {
        connections.remove(connection);
    }

    long bytesPerSecond() {
        return bytesPerSecond;
    }

    /** Blocks until requests, or responses, may pass, or the connection is closed. */
    synchronized void awaitFlow(boolean isRequest, ProxyConnection connection) throws InterruptedException {
        while (!connection.isClosed() && flow != Flow.BOTH && !(isRequest && flow == Flow.REQUESTS_ONLY)) {
            wait();
        }
    }

    synchronized void wakeClosed() {
        notifyAll();
    }

    /** Takes away what is to happen to a request of this kind; null if nothing is. */
    Strike takeStrike(short apiKey) {
        synchronized (strikes) {
            for (Strike strike : strikes) {
                if (strike.request().id == apiKey) {
                    strikes.remove(strike);
                    return strike;
                }
            }
            return null;
        }
    }

    /** A fault that waits for its request. */
    record Strike(ApiKeys request, Fault fault, CompletableFuture<Void> done) {}
}
