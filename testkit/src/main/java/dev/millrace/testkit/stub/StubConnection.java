package dev.millrace.testkit.stub;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.ArrayDeque;
import java.util.Queue;

/** One connection of a stub broker: splits what arrives into requests, and writes responses in order. */
final class StubConnection {
    private static final int SIZE_BYTES = Integer.BYTES;
    private static final int MAX_REQUEST_BYTES = 128 << 20;

    /** The most that is read beyond a request; it is moved to the front of the buffer afterwards. */
    private static final int READ_AHEAD_BYTES = 64 << 10;

    private final SelectionKey key;
    private final StubTransport transport;
    private final StubRequests requests;
    private final StubResponses responses;
    private final Queue<ByteBuffer> unwritten = new ArrayDeque<>();
    private ByteBuffer in = ByteBuffer.allocateDirect(READ_AHEAD_BYTES);

    StubConnection(SelectionKey key, StubTransport transport, StubRequests requests, StubResponses responses) {
        this.key = key;
        this.transport = transport;
        this.requests = requests;
        this.responses = responses;
    }

    /** Reads and writes what is possible now. Closes the connection if it breaks or a request makes no sense. */
    void handle() {
        try {
            if (key.isReadable()) {
                read();
            }
            if (key.isValid() && key.isWritable()) {
                flush();
            }
        } catch (IOException e) {
            close(); // The client has closed the connection, which it may.
        } catch (RuntimeException e) {
            e.printStackTrace();
            close();
        }
    }

    /** Queues a response, and writes as much as the socket takes. */
    void write(ByteBuffer response) {
        unwritten.add(response);
        try {
            if (key.isValid()) {
                flush();
            }
        } catch (IOException e) {
            close();
        }
    }

    private void read() throws IOException {
        int count;
        do {
            count = transport.read(in);
            if (count < 0) {
                close();
                return;
            }
            in.flip();
            int missing = answerCompleteRequests();
            if (missing > in.capacity()) {
                in = ByteBuffer.allocateDirect(missing).put(in);
            } else {
                in.compact();
            }
            in.limit(Math.min(in.capacity(), Math.max(missing, READ_AHEAD_BYTES)));
        } while (count > 0 && transport.hasBuffered());
    }

    /** Returns how many bytes the request at the front of the buffer needs at least. */
    private int answerCompleteRequests() {
        while (in.remaining() >= SIZE_BYTES) {
            int size = in.getInt(in.position());
            if (size < 0 || size > MAX_REQUEST_BYTES) {
                throw new IllegalArgumentException("A request of " + size + " bytes");
            }
            if (in.remaining() < SIZE_BYTES + size) {
                return SIZE_BYTES + size;
            }
            int end = in.position() + SIZE_BYTES + size;
            requests.answer(in.slice(in.position() + SIZE_BYTES, size))
                    .ifPresent(response -> responses.send(this, response));
            in.position(end);
        }
        return SIZE_BYTES;
    }

    private void flush() throws IOException {
        while (!unwritten.isEmpty()) {
            if (!transport.write(unwritten.element())) {
                key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                return;
            }
            unwritten.remove();
        }
        key.interestOps(SelectionKey.OP_READ);
    }

    private void close() {
        try {
            key.channel().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
