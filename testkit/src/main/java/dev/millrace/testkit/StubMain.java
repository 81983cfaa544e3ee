package dev.millrace.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What the child JVM of a {@link StubBroker} runs: one thread, one selector, all connections. */
final class StubMain {
    private final Selector selector = Selector.open();
    private final StubResponses responses;
    private final StubRequests requests;

    private StubMain(List<Integer> ports, StubTopics topics, int delayMillis) throws IOException {
        responses = new StubResponses(delayMillis);
        requests = new StubRequests(topics, ports);
    }

    /** Arguments: number of brokers, delay in milliseconds, then topics as {@code name=partitions}. */
    public static void main(String[] arguments) throws IOException {
        int brokers = Integer.parseInt(arguments[0]);
        int delayMillis = Integer.parseInt(arguments[1]);
        StubTopics topics = new StubTopics(List.of(arguments).subList(2, arguments.length));

        List<ServerSocketChannel> servers = new ArrayList<>();
        List<Integer> ports = new ArrayList<>();
        for (int broker = 0; broker < brokers; broker++) {
            ServerSocketChannel server = ServerSocketChannel.open();
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            servers.add(server);
            ports.add(server.socket().getLocalPort());
        }
        StubMain stub = new StubMain(ports, topics, delayMillis);
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
            key.attach(new StubConnection(channel, key, requests, responses));
        }
    }
}
