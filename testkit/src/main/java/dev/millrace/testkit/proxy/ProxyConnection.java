package dev.millrace.testkit.proxy;

import dev.millrace.testkit.proxy.FaultProxy.Fault;
import dev.millrace.testkit.proxy.FaultProxy.PlannedFault;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One connection through a {@link FaultProxy}. One thread carries requests, one by one, and another carries responses.
 */
final class ProxyConnection {
    private static final int SIZE_BYTES = Integer.BYTES;
    private static final int TLS_HEADER_BYTES = 5;
    private static final int TLS_SIZE_AT = 3;
    private static final int FIRST_TLS_TYPE = 20;
    private static final int LAST_TLS_TYPE = 23;
    private static final int TLS_VERSION = 3;
    private static final int SLICES_PER_SECOND = 20;

    private final FaultProxy proxy;
    private final Socket client;
    private final int targetPort;
    private final VersionLimit versionLimit;
    private final Thread requests = new Thread(this::run, "fault-proxy-requests");
    private final Thread responses = new Thread(this::carryResponses, "fault-proxy-responses");
    private volatile Socket broker = new Socket();
    private volatile boolean closed;
    private volatile boolean isHalfOpen;

    /** The response to drop; responses come in the order of requests. */
    private volatile DroppedResponse dropped;

    /** The version of the ApiVersions request that the broker is about to answer; -1 if there is none to change. */
    private volatile short apiVersions = -1;

    /** {@code versionLimit} is null for a broker that shows all that it has. */
    ProxyConnection(FaultProxy proxy, Socket client, int targetPort, VersionLimit versionLimit) {
        this.proxy = proxy;
        this.client = client;
        this.targetPort = targetPort;
        this.versionLimit = versionLimit;
        requests.setDaemon(true);
        responses.setDaemon(true);
    }

    void start() {
        requests.start();
    }

    boolean isClosed() {
        return closed;
    }

    /** The client's next read or write fails. */
    void reset() {
        try {
            client.setSoLinger(true, 0);
        } catch (IOException e) {
            // It is closed already.
        }
        close();
    }

    /** The broker sees the end of the connection. The client sees nothing, and what it sends is lost. */
    void makeHalfOpen() {
        isHalfOpen = true;
        closeQuietly(broker);
    }

    void awaitEnd() {
        join(requests);
    }

    private void close() {
        closed = true;
        closeQuietly(client);
        closeQuietly(broker);
        proxy.wakeWaiting();
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is closed all the same.
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while closing a connection of the fault proxy", e);
        }
    }

    private void run() {
        try {
            carryRequests();
        } catch (IOException e) {
            // The client or the broker has closed its connection.
        } catch (InterruptedException e) {
            throw new IllegalStateException("Interrupted, though nothing interrupts this thread", e);
        } finally {
            close();
            join(responses);
            proxy.onEnded(this);
        }
    }

    private void carryRequests() throws IOException, InterruptedException {
        broker = new Socket(InetAddress.getLoopbackAddress(), targetPort);
        if (closed || isHalfOpen) { // since before there was a socket to close
            closeQuietly(broker);
        }
        responses.start();
        DataInputStream in = new DataInputStream(client.getInputStream());
        while (true) {
            byte[] request = readFrame(in);
            proxy.awaitFlow(true, this);
            if (isTls(request)) {
                carry(request, request.length);
            } else if (versionLimit != null && !versionLimit.allows(request)) {
                refuse(request);
            } else if (!isHalfOpen) {
                carryRequest(request);
            }
        }
    }

    /** As a broker does with what it does not know: it says so to ApiVersions, and closes the connection on others. */
    private void refuse(byte[] request) throws IOException {
        if (!VersionLimit.isApiVersions(request)) {
            throw new EOFException("A request that an old broker does not know");
        }
        byte[] refusal = versionLimit.refuse(request);
        write(client.getOutputStream(), refusal, refusal.length);
    }

    private void carryRequest(byte[] request) throws IOException {
        if (versionLimit != null && VersionLimit.isApiVersions(request)) {
            apiVersions = VersionLimit.version(request); // the client sends nothing else until it has the answer
        }
        ByteBuffer header = ByteBuffer.wrap(request, SIZE_BYTES, request.length - SIZE_BYTES);
        short kind = header.getShort(SIZE_BYTES);
        proxy.onRequest(kind);
        PlannedFault planned = dropped != null ? null : proxy.takePlannedFault(kind);
        Fault fault = planned == null ? null : planned.fault();
        if (fault == Fault.DROP_RESPONSE) {
            int correlationId = header.getInt(SIZE_BYTES + 2 * Short.BYTES);
            dropped = new DroppedResponse(correlationId, planned);
        }
        int passing =
                fault == Fault.RESET_BEFORE ? 0 : fault == Fault.RESET_WITHIN ? request.length / 2 : request.length;
        carry(request, passing);
        if (fault != null && fault != Fault.DROP_RESPONSE) {
            reset();
            planned.done().complete(null);
        }
    }

    private void carry(byte[] request, int length) throws IOException {
        if (isHalfOpen) {
            return;
        }
        try {
            write(broker.getOutputStream(), request, length);
        } catch (IOException e) {
            if (!isHalfOpen) { // since then
                throw e;
            }
        }
    }

    private void carryResponses() {
        try {
            DataInputStream in = new DataInputStream(broker.getInputStream());
            while (true) {
                byte[] response = readFrame(in);
                DroppedResponse drop = dropped;
                if (drop != null
                        && !isTls(response)
                        && drop.correlationId == ByteBuffer.wrap(response).getInt(SIZE_BYTES)) {
                    reset();
                    drop.planned.done().complete(null);
                    return;
                }
                if (apiVersions >= 0) {
                    response = versionLimit.limit(response, apiVersions);
                    apiVersions = -1;
                }
                proxy.awaitFlow(false, this);
                write(client.getOutputStream(), response, response.length);
            }
        } catch (IOException e) {
            if (!isHalfOpen) {
                close();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("Interrupted, though nothing interrupts this thread", e);
        }
    }

    /** A request or response with its size in front, or a record of TLS. */
    private static byte[] readFrame(DataInputStream in) throws IOException {
        byte[] start = new byte[SIZE_BYTES];
        in.readFully(start);
        if (isTls(start)) {
            byte[] header = Arrays.copyOf(start, TLS_HEADER_BYTES);
            in.readFully(header, SIZE_BYTES, TLS_HEADER_BYTES - SIZE_BYTES);
            return readRest(
                    in, header, Short.toUnsignedInt(ByteBuffer.wrap(header).getShort(TLS_SIZE_AT)));
        }
        int size = ByteBuffer.wrap(start).getInt();
        if (size < 0) {
            throw new EOFException("A frame of " + size + " bytes: this is not Kafka's protocol");
        }
        return readRest(in, start, size);
    }

    private static byte[] readRest(DataInputStream in, byte[] header, int size) throws IOException {
        byte[] frame = Arrays.copyOf(header, header.length + size);
        in.readFully(frame, header.length, size);
        return frame;
    }

    /** A record of TLS begins with its type and the version 3; a request of Kafka with this size would have 335 MB. */
    private static boolean isTls(byte[] start) {
        return start[0] >= FIRST_TLS_TYPE && start[0] <= LAST_TLS_TYPE && start[1] == TLS_VERSION;
    }

    private void write(OutputStream out, byte[] frame, int length) throws IOException {
        int written = 0;
        while (written < length) {
            long rate = proxy.bytesPerSecond();
            int slice = (int) Math.min(length - written, Math.max(1, rate / SLICES_PER_SECOND));
            out.write(frame, written, slice);
            written += slice;
            if (rate != Long.MAX_VALUE) {
                LockSupport.parkNanos((long) (TimeUnit.SECONDS.toNanos(1) * ((double) slice / rate)));
            }
        }
    }

    private record DroppedResponse(int correlationId, PlannedFault planned) {}
}
