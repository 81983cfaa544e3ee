package dev.millrace.testkit.stub;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/** The server's side of TLS on one connection of a stub. Between calls all buffers are ready for reading. */
final class StubTls implements StubTransport {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel channel;
    private final SSLEngine engine;
    /** Holds several TLS records, so that the socket is read less often. */
    private final ByteBuffer encryptedIn;

    private final ByteBuffer decrypted;
    private final ByteBuffer encryptedOut;

    StubTls(SocketChannel channel, SSLEngine engine) {
        this.channel = channel;
        this.engine = engine;
        engine.setUseClientMode(false);
        int packet = engine.getSession().getPacketBufferSize();
        encryptedIn = ByteBuffer.allocateDirect(4 * packet).limit(0);
        decrypted = ByteBuffer.allocateDirect(engine.getSession().getApplicationBufferSize())
                .limit(0);
        encryptedOut = ByteBuffer.allocateDirect(2 * packet).limit(0);
    }

    @Override
    public int read(ByteBuffer in) throws IOException {
        while (!decrypted.hasRemaining()) {
            decrypted.clear();
            SSLEngineResult.Status status =
                    engine.unwrap(encryptedIn, decrypted).getStatus();
            decrypted.flip();
            doHandshake();
            if (status == SSLEngineResult.Status.CLOSED) {
                return -1;
            }
            if (status == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
                int count = channel.read(encryptedIn.compact());
                encryptedIn.flip();
                if (count <= 0) {
                    return count;
                }
            }
        }
        int count = Math.min(decrypted.remaining(), in.remaining());
        in.put(decrypted.slice(decrypted.position(), count));
        decrypted.position(decrypted.position() + count);
        return count;
    }

    @Override
    public boolean hasBuffered() {
        return decrypted.hasRemaining() || encryptedIn.hasRemaining();
    }

    @Override
    public boolean write(ByteBuffer out) throws IOException {
        while (true) {
            channel.write(encryptedOut);
            if (encryptedOut.hasRemaining()) {
                return false;
            }
            if (!out.hasRemaining()) {
                return true;
            }
            encrypt(out);
        }
    }

    /** Does what the handshake needs from this side, also later, when the client wants a new key. */
    private void doHandshake() throws IOException {
        while (true) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> engine.getDelegatedTask().run();
                case NEED_WRAP -> {
                    encrypt(NOTHING.duplicate());
                    channel.write(encryptedOut); // the next response sends what the socket does not take
                }
                default -> {
                    return;
                }
            }
        }
    }

    private void encrypt(ByteBuffer out) throws SSLException {
        encryptedOut.compact();
        SSLEngineResult.Status status = engine.wrap(out, encryptedOut).getStatus();
        encryptedOut.flip();
        if (status != SSLEngineResult.Status.OK) {
            throw new SSLException("Cannot encrypt: " + status);
        }
    }
}
