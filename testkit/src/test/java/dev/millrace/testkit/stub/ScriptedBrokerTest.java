package dev.millrace.testkit.stub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageSizeAccumulator;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ScriptedBrokerTest {
    @Test
    void shouldThrowWhenClosedIfItsScriptThrew() throws IOException {
        Error thrown = new AssertionError("not expected");
        ScriptedBroker broker = new ScriptedBroker(request -> {
            throw thrown;
        });

        assertThat(askForVersions(broker)).isEqualTo(-1);

        assertThatThrownBy(broker::close).hasCause(thrown);
    }

    @Test
    void shouldThrowWhenClosedIfARequestCouldNotBeRead() throws IOException {
        ScriptedBroker broker = new ScriptedBroker(request -> null);

        assertThat(ask(broker, new byte[] {0, 0, 0, 1, 42})).isEqualTo(-1);

        assertThatThrownBy(broker::close).hasCauseInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldCloseQuietlyIfItsScriptClosedTheConnection() throws IOException {
        ScriptedBroker broker = new ScriptedBroker(request -> {
            throw new EOFException();
        });

        assertThat(askForVersions(broker)).isEqualTo(-1);

        assertThatCode(broker::close).doesNotThrowAnyException();
    }

    private static int askForVersions(ScriptedBroker broker) throws IOException {
        ByteBuffer request = ByteBuffer.allocate(100).putInt(0);
        ByteBufferAccessor writable = new ByteBufferAccessor(request);
        short version = 0;
        ObjectSerializationCache cache = new ObjectSerializationCache();
        RequestHeaderData header = new RequestHeaderData()
                .setRequestApiKey(ApiMessageType.API_VERSIONS.apiKey())
                .setRequestApiVersion(version);
        header.addSize(new MessageSizeAccumulator(), cache, (short) 1);
        header.write(writable, cache, ApiMessageType.API_VERSIONS.requestHeaderVersion(version));
        new ApiVersionsRequestData().write(writable, cache, version);
        request.putInt(0, request.position() - Integer.BYTES);
        byte[] bytes = new byte[request.flip().remaining()];
        request.get(bytes);
        return ask(broker, bytes);
    }

    /** Returns the first byte of the answer, or −1 if there is none. */
    private static int ask(ScriptedBroker broker, byte[] request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), broker.port())) {
            socket.getOutputStream().write(request);
            return socket.getInputStream().read();
        }
    }
}
