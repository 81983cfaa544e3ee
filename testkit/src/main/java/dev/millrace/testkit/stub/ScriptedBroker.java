package dev.millrace.testkit.stub;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;

/**
 * A broker in this JVM that answers each request as a test's script says. It is for odd answers, not for speed.
 *
 * <p><b>Threads:</b> any; the script runs on a thread for each connection.
 */
public final class ScriptedBroker implements AutoCloseable {
    private final Script script;
    private final Wire wire;
    private final ServerSocket server;
    private final Queue<Request> received = new ConcurrentLinkedQueue<>();
    private final Queue<Socket> connections = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** Listens on a free port of 127.0.0.1. */
    public ScriptedBroker(Script script) {
        this(script, (request, answer, out) -> out.write(answer));
    }

    /** As above; {@code wire} writes the answers. */
    public ScriptedBroker(Script script, Wire wire) {
        this.script = script;
        this.wire = wire;
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start("scripted-broker", this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    /** The requests of one kind that have come so far, the oldest first. */
    public List<Request> received(ApiMessageType type) {
        return received.stream().filter(request -> request.type() == type).toList();
    }

    /** Closes every connection; clients may connect again. */
    public void disconnectAll() {
        for (Socket connection = connections.poll(); connection != null; connection = connections.poll()) {
            try {
                connection.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Closes all connections.
     *
     * @throws IllegalStateException the script threw what it may not, or a request could not be read
     */
    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        disconnectAll();
        if (failure.get() != null) {
            throw new IllegalStateException("The scripted broker failed", failure.get());
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = server.accept();
                connections.add(connection);
                start("scripted-connection", () -> serve(connection));
            }
        } catch (IOException e) {
            disconnectAll(); // closed
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            answerAll(connection);
        } catch (IOException e) {
            // The client or the script has closed the connection, which both may.
        }
    }

    /** Returns when the script has failed. */
    private void answerAll(Socket connection) throws IOException {
        try {
            DataInputStream in = new DataInputStream(connection.getInputStream());
            while (true) {
                byte[] bytes = new byte[in.readInt()];
                in.readFully(bytes);
                if (isTooNew(ByteBuffer.wrap(bytes))) {
                    connection.getOutputStream().write(refusal(ByteBuffer.wrap(bytes)));
                    continue;
                }
                Request request = parse(ByteBuffer.wrap(bytes));
                received.add(request);
                ApiMessage answer = script.answer(request);
                if (answer != null) {
                    byte[] response = serialize(request.type(), request.version(), request.correlationId(), answer);
                    wire.write(request, response, connection.getOutputStream());
                }
            }
        } catch (RuntimeException | Error e) { // before the client sees the end of the connection
            failure.compareAndSet(null, e);
        }
    }

    /** Whether the client asks for the versions in one that kafka-clients on the class path does not have. */
    private static boolean isTooNew(ByteBuffer request) {
        return ApiMessageType.fromApiKey(request.getShort(0)) == ApiMessageType.API_VERSIONS
                && request.getShort(2) > ApiMessageType.API_VERSIONS.highestSupportedVersion(false);
    }

    /** What a broker answers to that: in version 0, which all clients read, up to which version it can. */
    private static byte[] refusal(ByteBuffer request) {
        ApiVersionsResponseData answer = new ApiVersionsResponseData().setErrorCode(Errors.UNSUPPORTED_VERSION.code());
        answer.apiKeys()
                .add(new ApiVersionsResponseData.ApiVersion()
                        .setApiKey(ApiMessageType.API_VERSIONS.apiKey())
                        .setMaxVersion(ApiMessageType.API_VERSIONS.highestSupportedVersion(false)));
        return serialize(ApiMessageType.API_VERSIONS, (short) 0, request.getInt(4), answer);
    }

    private static byte[] serialize(ApiMessageType type, short version, int correlationId, ApiMessage answer) {
        ByteBuffer response = StubRequests.serialize(type, version, correlationId, answer);
        byte[] bytes = new byte[response.remaining()];
        response.get(bytes);
        return bytes;
    }

    private static Request parse(ByteBuffer bytes) {
        ApiMessageType type = ApiMessageType.fromApiKey(bytes.getShort(0));
        short version = bytes.getShort(2);
        ByteBufferAccessor readable = new ByteBufferAccessor(bytes);
        RequestHeaderData header = new RequestHeaderData(readable, type.requestHeaderVersion(version));
        ApiMessage body = type.newRequest();
        body.read(readable, version);
        return new Request(type, version, header.correlationId(), body);
    }

    /** What the broker does. */
    public interface Script {
        /**
         * The answer to a request; null for none.
         *
         * @throws EOFException to close the connection instead
         */
        ApiMessage answer(Request request) throws IOException;
    }

    /** How an answer is sent. */
    public interface Wire {
        /**
         * Writes the answer, as it is or not.
         *
         * @param answer with its size in front
         * @throws EOFException to close the connection
         */
        void write(Request request, byte[] answer, OutputStream out) throws IOException;
    }

    /** A request as it came. */
    public record Request(ApiMessageType type, short version, int correlationId, ApiMessage body) {}
}
