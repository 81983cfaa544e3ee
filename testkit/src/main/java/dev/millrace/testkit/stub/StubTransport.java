package dev.millrace.testkit.stub;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The socket of a stub's connection, without or with TLS; never blocks. */
interface StubTransport {
    /** Returns how many bytes were read; −1 at the end of the connection. */
    int read(ByteBuffer in) throws IOException;

    /** Whether there may be more to read that the selector does not know of. */
    boolean hasBuffered();

    /** Writes what the socket takes. Call it again with the same buffer until it returns that all is written. */
    boolean write(ByteBuffer out) throws IOException;

    static StubTransport plain(SocketChannel channel) {
        return new StubTransport() {
            @Override
            public int read(ByteBuffer in) throws IOException {
                return channel.read(in);
            }

            @Override
            public boolean hasBuffered() {
                return false;
            }

            @Override
            public boolean write(ByteBuffer out) throws IOException {
                channel.write(out);
                return !out.hasRemaining();
            }
        };
    }
}
