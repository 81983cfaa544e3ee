package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.io.BrokerLink;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.testkit.stub.ScriptedBroker;
import dev.millrace.testkit.stub.ScriptedBroker.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.ApiVersionsResponseData.ApiVersion;
import org.apache.kafka.common.message.ApiVersionsResponseData.FinalizedFeatureKey;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The link of a producer to one scripted broker. */
final class LinkFixture implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private volatile ScriptedBroker.Wire wire = (request, answer, out) -> out.write(answer);

    final ScriptedBroker broker =
            new ScriptedBroker(this::answer, (request, answer, out) -> wire.write(request, answer, out));
    final Node node = new Node(1, "127.0.0.1", broker.port());
    final KafkaBridge kafka;
    final BrokerLink link;

    private final Map<ApiMessageType, ScriptedBroker.Script> scripts = new EnumMap<>(ApiMessageType.class);
    private final int transactionVersion;

    /**
     * Opens the link.
     *
     * @param transactionVersion of the cluster; 0 for none
     * @param more pairs of key and value of a producer's configuration
     */
    LinkFixture(int transactionVersion, Object... more) {
        this.transactionVersion = transactionVersion;
        Map<String, Object> configs = new HashMap<>(Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                "127.0.0.1:" + broker.port(),
                ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
                ByteArraySerializer.class,
                ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
                ByteArraySerializer.class,
                ProducerConfig.ENABLE_METRICS_PUSH_CONFIG, // would connect by itself
                false));
        for (int i = 0; i < more.length; i += 2) {
            configs.put((String) more[i], more[i + 1]);
        }
        kafka = new KafkaBridge(WorkableConfigs.producer(configs));
        link = kafka.openLink(new ClusterImages(ClusterImage.bootstrap(kafka.bootstrapServers())), 0);
    }

    /** From now on the broker answers this kind of request so, and tells clients that it knows it. */
    void on(ApiMessageType type, ScriptedBroker.Script script) {
        scripts.put(type, script);
    }

    /** From now on answers are sent so. */
    void onTheWire(ScriptedBroker.Wire next) {
        wire = next;
    }

    private ApiMessage answer(Request request) throws IOException {
        return request.type() == ApiMessageType.API_VERSIONS
                ? versions()
                : scripts.get(request.type()).answer(request);
    }

    private ApiMessage versions() {
        ApiVersionsResponseData versions = new ApiVersionsResponseData();
        versions.apiKeys().add(version(ApiMessageType.API_VERSIONS));
        scripts.keySet().forEach(type -> versions.apiKeys().add(version(type)));
        if (transactionVersion > 0) {
            versions.setFinalizedFeaturesEpoch(1);
            versions.finalizedFeatures()
                    .add(new FinalizedFeatureKey()
                            .setName("transaction.version")
                            .setMaxVersionLevel((short) transactionVersion)
                            .setMinVersionLevel((short) transactionVersion));
        }
        return versions;
    }

    private static ApiVersion version(ApiMessageType type) {
        return new ApiVersion()
                .setApiKey(type.apiKey())
                .setMinVersion(type.lowestSupportedVersion())
                .setMaxVersion(type.highestSupportedVersion(false));
    }

    /** Polls until a request can be sent to the broker. */
    void connect() {
        pollUntil(() -> link.ready(node, nowMs()));
    }

    long nowMs() {
        return kafka.nowMs();
    }

    void poll() {
        link.poll(10, nowMs());
    }

    void pollUntil(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("patience").isLessThan(end);
            poll();
        }
    }

    double metric(String name) {
        return kafka.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals(name)
                        && metric.getKey().group().equals("producer-metrics"))
                .mapToDouble(metric -> ((Number) metric.getValue().metricValue()).doubleValue())
                .findFirst()
                .orElseThrow();
    }

    @Override
    public void close() {
        link.close();
        kafka.close();
        broker.close();
    }
}
