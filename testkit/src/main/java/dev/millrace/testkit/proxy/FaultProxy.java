package dev.millrace.testkit.proxy;

import dev.millrace.kafka.common.protocol.ApiKeys;
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
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A TCP proxy in front of one broker that breaks connections on command, at once or at the next request of some kind.
 * It splits the traffic into requests and responses; of a connection with TLS it knows no requests, only how to break it. A
 * cluster with the listener
 * {@link dev.millrace.testkit.cluster.Listener#PROXIED} has one in front of each broker: {@link
 * dev.millrace.testkit.cluster.KafkaCluster#proxy(int)}.
 *
 * <pre>{@code
 * CompletableFuture<Void> dropped = cluster.proxy(1).failNext(ApiKeys.PRODUCE, FaultProxy.Fault.DROP_RESPONSE);
 * producer.send(record);
 * dropped.get(); // the record is written, and the connection was reset instead of a response
 * }</pre>
 *
 * <p>Any thread may call any method. No thread and no connection outlives {@link #close()}.
 */
public final class FaultProxy implements AutoCloseable {
    /** What passes through all connections, present and future; the proxy keeps what does not pass. */
    public enum Flow {
        /** Everything. */
        BOTH,
        /** Brokers act on requests, and clients get no response. */
        REQUESTS_ONLY,
        /** A black hole: connections are accepted, and nothing passes. */
        NOTHING
    }

    /** What happens to one request and its connection. */
    public enum Fault {
        /** Reset before the broker sees any of the request. */
        RESET_BEFORE,
        /** Reset after half of the request's bytes, so that the broker cannot act on it. */
        RESET_WITHIN,
        /** Reset as soon as the proxy has written all of it to the broker, which very likely acts on it. */
        RESET_AFTER,
        /** Reset when the broker has acted on it and has responded; the client does not get the response. */
        DROP_RESPONSE
    }

    private final int port;
    private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();
    private final Deque<PlannedFault> plannedFaults = new ArrayDeque<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private final Map<Short, LongAdder> requests = new ConcurrentHashMap<>();
    private volatile int targetPort;
    private volatile long bytesPerSecond = Long.MAX_VALUE;
    private volatile VersionLimit versionLimit;
    private Flow flow = Flow.BOTH;
    private ServerSocket server;
    private Thread acceptor;

    /** Listens on {@code port} of 127.0.0.1 in front of {@code targetPort} there; the target need not listen yet. */
    public FaultProxy(int port, int targetPort) {
        this.port = port;
        this.targetPort = targetPort;
        accept();
    }

    /** Starts a proxy on a free port in front of {@code targetPort} of 127.0.0.1. */
    public static FaultProxy to(int targetPort) {
        return new FaultProxy(Ports.findFree(1).remove(), targetPort);
    }

    /** The port of 127.0.0.1 on which it listens. */
    public int port() {
        return port;
    }

    /** The number of connections that it has accepted so far. */
    public int accepted() {
        return accepted.get();
    }

    /** The number of requests of this kind that clients have sent so far. */
    public long requests(ApiKeys kind) {
        LongAdder count = requests.get(kind.id);
        return count == null ? 0 : count.sum();
    }

    /** The port of 127.0.0.1 to which it connects new connections. */
    public int target() {
        return targetPort;
    }

    /** Connects new connections to this port of 127.0.0.1 from now on. */
    public void setTarget(int newTargetPort) {
        targetPort = newTargetPort;
    }

    /**
     * Lets {@code fault} happen to the next request of this kind, on any connection. Faults for the same kind happen to
     * one request each, in the order of the calls.
     *
     * @return completes when the fault has happened
     */
    public CompletableFuture<Void> failNext(ApiKeys request, Fault fault) {
        PlannedFault planned = new PlannedFault(request, fault, new CompletableFuture<>());
        synchronized (plannedFaults) {
            plannedFaults.add(planned);
        }
        return planned.done();
    }

    /** Decides what passes from now on. What the proxy has kept is sent as soon as it may pass. */
    public synchronized void setFlow(Flow newFlow) {
        flow = newFlow;
        notifyAll();
    }

    /**
     * Limits each connection, in each direction, to so many bytes per second, from 1; {@code Long.MAX_VALUE} is no
     * limit.
     */
    public void limitBytesPerSecond(long newBytesPerSecond) {
        bytesPerSecond = newBytesPerSecond;
    }

    /** Makes the broker look like an older one to connections made from now on. */
    public void limitVersions(VersionLimit limit) {
        versionLimit = limit;
    }

    /** Resets all present connections; new ones are accepted. */
    public void resetAll() {
        connections.forEach(ProxyConnection::reset);
    }

    /**
     * Makes all present connections half-open: their clients get neither an answer nor an end. New connections work.
     */
    public void makeAllHalfOpen() {
        connections.forEach(ProxyConnection::makeHalfOpen);
    }

    /** Refuses new connections until {@link #accept()}; present ones stay. */
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
            // The words that a broker uses, because the cluster's builder looks for them and tries other ports.
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
                ProxyConnection connection = new ProxyConnection(this, client, targetPort, versionLimit);
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

    void onEnded(ProxyConnection connection) {
        connections.remove(connection);
    }

    long bytesPerSecond() {
        return bytesPerSecond;
    }

    /** Blocks until requests, or else responses, may pass, or the connection is closed. */
    synchronized void awaitFlow(boolean isRequest, ProxyConnection connection) throws InterruptedException {
        while (!connection.isClosed() && flow != Flow.BOTH && !(isRequest && flow == Flow.REQUESTS_ONLY)) {
            wait();
        }
    }

    synchronized void wakeWaiting() {
        notifyAll();
    }

    void onRequest(short apiKey) {
        requests.computeIfAbsent(apiKey, unused -> new LongAdder()).increment();
    }

    /** Removes and returns the fault that is to happen to a request of this kind; null if there is none. */
    PlannedFault takePlannedFault(short apiKey) {
        synchronized (plannedFaults) {
            for (PlannedFault planned : plannedFaults) {
                if (planned.request().id == apiKey) {
                    plannedFaults.remove(planned);
                    return planned;
                }
            }
            return null;
        }
    }

    /** A fault that waits for a request. */
    record PlannedFault(ApiKeys request, Fault fault, CompletableFuture<Void> done) {}
}
