package dev.millrace.mirror;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/** Configurations of single clients, derived from those in {@link MirrorConfig}. */
public final class DerivedConfigs {
    private DerivedConfigs() {}

    /** The configuration of an admin client of the same cluster: the client's settings that an admin client knows. */
    public static Map<String, Object> admin(Map<String, Object> client) {
        Map<String, Object> config = new HashMap<>(client);
        config.keySet().retainAll(AdminClientConfig.configNames());
        config.put(AdminClientConfig.CLIENT_ID_CONFIG, client.get(AdminClientConfig.CLIENT_ID_CONFIG) + "-admin");
        return config;
    }

    /** The configuration of one thread's consumer: ids that must be unique to a consumer get a number. */
    public static Map<String, Object> numbered(Map<String, Object> consumer, int number) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.computeIfPresent(ConsumerConfig.CLIENT_ID_CONFIG, (key, id) -> id + "-" + number);
        config.computeIfPresent(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, (key, id) -> id + "-" + number);
        return config;
    }

    /** The configuration of a consumer that throws when the source no longer has its position, instead of moving it. */
    static Map<String, Object> withoutReset(Map<String, Object> consumer) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        return config;
    }

    /** The configuration of the fetcher that reads for a consumer. */
    static Map<String, Object> fetcher(Map<String, Object> consumer) {
        Map<String, Object> config = new HashMap<>(consumer);
        config.put(ConsumerConfig.CLIENT_ID_CONFIG, consumer.get(ConsumerConfig.CLIENT_ID_CONFIG) + "-fetcher");
        return config;
    }
}
