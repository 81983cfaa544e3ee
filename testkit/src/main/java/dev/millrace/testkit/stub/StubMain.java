package dev.millrace.testkit.stub;

import dev.millrace.testkit.cluster.Certificates;
import dev.millrace.testkit.process.ChildJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;

/** What the child JVM of a {@link StubBroker} runs: one thread, one selector, all connections. */
final class StubMain {
    static final String PLAIN = "plain";

    private final Selector selector = Selector.open();
    private final StubResponses responses;
    private final StubRequests requests;

    /** Empty without TLS. */
    private final Optional<SSLContext> tls;

    private StubMain(List<Integer> ports, StubTopics topics, int delayMillis, Optional<SSLContext> tls)
            throws IOException {
        this.tls = tls;
        responses = new StubResponses(delayMillis);
        requests = new StubRequests(topics, ports);
    }

    /**
     * Arguments: the number of brokers, the delay in milliseconds, {@value #PLAIN} or the key store for TLS, then the
     * topics as {@link StubTopics} takes them.
     */
    public static void main(String[] arguments) throws IOException {
        int brokers = Integer.parseInt(arguments[0]);
        int delayMillis = Integer.parseInt(arguments[1]);
        Optional<SSLContext> tls = Optional.of(arguments[2])
                .filter(store -> !store.equals(PLAIN))
                .map(store -> Certificates.serverContext(Path.of(store)));
        StubTopics topics = new StubTopics(List.of(arguments).subList(3, arguments.length));

        List<ServerSocketChannel> servers = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        for (int broker = 0; broker < brokers; broker++) {
            ServerSocketChannel server = ServerSocketChannel.open();
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            servers.add(server);
            ports.add(server.socket().getLocalPort());
        }
        StubMain stub = new StubMain(ports, topics, delayMillis, tls);
        for (ServerSocketChannel server : servers) {
            server.configureBlocking(false);
            server.register(stub.selector, SelectionKey.OP_ACCEPT);
        }
        ChildJvm.reportReady(ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(",")));
        stub.serve();
    }

    private void serve() throws IOException {
        while (true) {
            selector.select(this::handle, responses.millisUntilNextIsDue());
            responses.sendAllDue();
        }
    }

    private void handle(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                accept((ServerSocketChannel) key.channel());
            } else if (key.attachment() instanceof StubConnection connection) {
                connection.handle();
            }
        } catch (IOException e) {
            throw new IllegalStateException("Cannot accept a connection", e);
        }
    }

    private void accept(ServerSocketChannel server) throws IOException {
        SocketChannel channel = server.accept();
        if (channel != null) {
            channel.configureBlocking(false);
            channel.socket().setTcpNoDelay(true);
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            StubTransport transport = tls.<StubTransport>map(context -> new StubTls(channel, context.createSSLEngine()))
                    .orElseGet(() -> StubTransport.plain(channel));
            key.attach(new StubConnection(key, transport, requests, responses));
        }
    }
}
