package dev.millrace.mirror.cli;

import dev.millrace.mirror.cluster.KafkaLogs;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.text.MirrorException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds errors in the configuration of the clients before the mirror starts: opens and closes a client of each kind,
 * without waiting for a cluster.
 */
final class ClientCheck {
    private static final Logger LOG = LoggerFactory.getLogger(ClientCheck.class);

    /** Never reached, because nothing is in flight. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private ClientCheck() {}

    /**
     * Checks what {@link ClientConfigs#consumer} returned for these settings.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    static void checkConsumer(Map<String, Object> config, GivenSettings given) {
        warnOfUnknown(given.names(), ConsumerConfig.configNames(), "consumer");
        checkHosts(config, given);
        open(
                given,
                config,
                () -> new KafkaConsumer<byte[], byte[]>(DerivedConfigs.numbered(config, 0))
                        .close(CloseOptions.timeout(CLOSE_TIMEOUT)));
    }

    /**
     * Checks what {@link ClientConfigs#producer} returned for these settings.
     *
     * @throws MirrorException naming the option or the file that is wrong
     */
    static void checkProducer(Map<String, Object> config, ProducerKind kind, GivenSettings given) {
        Map<String, String> common = new HashMap<>(given.names());
        common.keySet().removeIf(kind::isOwnSetting);
        warnOfUnknown(common, ProducerConfig.configNames(), kind + " producer");
        checkHosts(config, given);
        open(given, config, () -> kind.create(config).close(CLOSE_TIMEOUT));
    }

    private static void warnOfUnknown(Map<String, String> given, Set<String> names, String client) {
        Set<String> known = new HashSet<>(names);
        known.addAll(AdminClientConfig.configNames()); // DerivedConfigs.admin uses these too.
        UnknownSettings.describe(given, known, client).forEach(LOG::warn);
    }

    /** Checks the hosts. One resolvable host of several is enough, as for Kafka. */
    private static void checkHosts(Map<String, Object> config, GivenSettings given) {
        String addresses =
                config.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG).toString();
        if (Arrays.stream(addresses.split(",")).allMatch(address -> isUnknown(host(address)))) {
            throw MirrorException.usage(given.describe(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, addresses)
                    + ": there is no such host, or its name cannot be looked up");
        }
    }

    private static boolean isUnknown(String host) {
        return new InetSocketAddress(host, 0).isUnresolved();
    }

    /** Returns the host of {@code host:port}, {@code [host]:port} or {@code protocol://host:port}. */
    private static String host(String address) {
        String host = address.strip().replaceFirst("^[^:/]*://", "");
        return host.substring(0, host.lastIndexOf(':')).replaceAll("[\\[\\]]", "");
    }

    private static void open(GivenSettings given, Map<String, Object> config, Runnable client) {
        KafkaLogs.callSilently(() -> given.validate(() -> {
            client.run();
            Admin.create(DerivedConfigs.admin(config)).close(CLOSE_TIMEOUT);
            return config;
        }));
    }
}
