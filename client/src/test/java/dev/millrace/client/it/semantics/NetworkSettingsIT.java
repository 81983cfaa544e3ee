package dev.millrace.client.it.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.support.ProducerKind;
import dev.millrace.client.support.SingleBrokerFixture;
import dev.millrace.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The keys of connections and their times have their documented effect. */
class NetworkSettingsIT extends SingleBrokerFixture {
    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldNotConnectAgainBeforeTheReconnectBackoff(ProducerKind kind) throws Exception {
        // given a server that closes each connection at once
        List<Long> connectedNs = new CopyOnWriteArrayList<>();
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread acceptor = new Thread(() -> hangUpOnEach(server, connectedNs));
            acceptor.start();

            // when
            try (Producer<byte[], byte[]> producer = kind.create(
                    Map.of("bootstrap.servers", "127.0.0.1:" + server.getLocalPort()),
                    "reconnect.backoff.ms",
                    400,
                    "reconnect.backoff.max.ms",
                    400,
                    "max.block.ms",
                    20)) {
                producer.send(record("any"));
                Await.until("it has tried four times", PATIENCE, () -> connectedNs.size() >= 4);
            }
        }

        // then: jitter shortens it by at most 20 %; a busy machine only makes it longer
        long thirdNs = connectedNs.get(3) - connectedNs.get(0);
        assertThat(TimeUnit.NANOSECONDS.toMillis(thirdNs)).isGreaterThan(3 * 400 * 75 / 100);
    }

    private static void hangUpOnEach(ServerSocket server, List<Long> connectedNs) {
        try {
            while (true) {
                server.accept().close();
                connectedNs.add(System.nanoTime());
            }
        } catch (IOException e) {
            return; // the server is closed
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldTryTheNextBrokerWhenAConnectionIsNotSetUpInTime(ProducerKind kind) throws Exception {
        // given three addresses that neither accept nor refuse connections, and one that works
        String topic = topic("connection-set-up", kind, 1);
        List<AutoCloseable> open = new ArrayList<>();
        StringBuilder bootstrap = new StringBuilder(cluster.bootstrapServers());
        try {
            for (int i = 0; i < 3; i++) {
                ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                open.add(full);
                for (int c = 0; c < 2; c++) {
                    open.add(new Socket(full.getInetAddress(), full.getLocalPort()));
                }
                bootstrap.append(",127.0.0.1:").append(full.getLocalPort());
            }

            // when, then: with the default of 10 s it would take longer in three of four runs
            try (Producer<byte[], byte[]> producer = kind.create(
                    Map.of("bootstrap.servers", bootstrap.toString()),
                    "socket.connection.setup.timeout.ms",
                    200,
                    "socket.connection.setup.timeout.max.ms",
                    200,
                    "max.block.ms",
                    8_000)) {
                assertThat(producer.send(record(topic)).get().hasOffset()).isTrue();
            }
        } finally {
            for (AutoCloseable socket : open) {
                socket.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldCloseIdleConnectionsAndConnectAgain(ProducerKind kind) throws Exception {
        String topic = topic("idle", kind, 1);
        try (Producer<byte[], byte[]> producer =
                kind.create(cluster.clientConfig(), "connections.max.idle.ms", 300, "request.timeout.ms", 500)) {
            producer.send(record(topic)).get();

            // then: the producer may reconnect at once for metadata, so there may be no connection only for a moment
            Await.until("an idle connection is closed", PATIENCE, () -> closedConnections(producer) > 0);

            assertThat(producer.send(record(topic)).get().offset()).isEqualTo(1);
        }
    }

    private static double closedConnections(Producer<?, ?> producer) {
        return producer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("connection-close-total"))
                .mapToDouble(metric -> (Double) metric.getValue().metricValue())
                .sum();
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldLookUpBootstrapServersAsAsked(ProducerKind kind) throws Exception {
        String topic = topic("dns", kind, 1);
        for (String lookup : List.of("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")) {
            try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "client.dns.lookup", lookup)) {
                assertThat(producer.send(record(topic)).get().hasOffset()).isTrue();
            }
        }
        assertThatThrownBy(() -> kind.create(cluster.clientConfig(), "client.dns.lookup", "never"))
                .isInstanceOf(KafkaException.class);
        assertThatThrownBy(() -> kind.create(Map.of("bootstrap.servers", "no-such-host.invalid:9092")))
                .isInstanceOf(KafkaException.class);
    }

    @ParameterizedTest
    @EnumSource(ProducerKind.class)
    void shouldKeepToItsQuota(ProducerKind kind) throws Exception {
        // given 20 kB/s, measured over 11 s: the broker does not throttle the first 220 kB
        String topic = topic("quota", kind, 1);
        String client = "client-" + topic;
        ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, client));
        ClientQuotaAlteration.Op limit = new ClientQuotaAlteration.Op("producer_byte_rate", 20_000.0);
        cluster.admin()
                .alterClientQuotas(List.of(new ClientQuotaAlteration(entity, List.of(limit))))
                .all()
                .get();

        // when
        long startNs = System.nanoTime();
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        try (Producer<byte[], byte[]> producer = kind.create(cluster.clientConfig(), "client.id", client)) {
            for (int i = 0; i < 10; i++) {
                futures.add(producer.send(new ProducerRecord<>(topic, new byte[25_000])));
                producer.flush();
            }
            assertThat(throttled(producer)).isPositive();
        }

        // then
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs)).isGreaterThan(1_000);
        for (int i = 0; i < futures.size(); i++) {
            assertThat(futures.get(i).get().offset()).isEqualTo(i);
        }
    }

    private static double throttled(Producer<?, ?> producer) {
        return producer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("produce-throttle-time-max"))
                .mapToDouble(metric -> (Double) metric.getValue().metricValue())
                .max()
                .orElseThrow();
    }
}
