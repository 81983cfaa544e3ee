package dev.millrace.testkit.mirrormaker;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Configurations of MirrorMaker 2. */
public final class MirrorMaker2Config {
    /** Lets copies have the names of their topics. */
    public static final Map<String, Object> SAME_NAMES =
            Map.of("replication.policy.class", "org.apache.kafka.connect.mirror.IdentityReplicationPolicy");

    private MirrorMaker2Config() {}

    /**
     * Returns one that copies these topics, and nothing else, between clusters of one broker each. It can be changed.
     *
     * @param source name of the cluster to read
     * @param target name of the other cluster
     * @param topics names or patterns
     */
    public static Map<String, Object> betweenSingleBrokers(
            String source, String sourceServers, String target, String targetServers, String topics) {
        Map<String, Object> config = new HashMap<>(Map.of(
                "clusters",
                source + ", " + target,
                source + ".bootstrap.servers",
                sourceServers,
                target + ".bootstrap.servers",
                targetServers,
                source + "->" + target + ".enabled",
                true,
                "topics",
                topics,
                "emit.heartbeats.enabled",
                false,
                "emit.checkpoints.enabled",
                false));
        for (String kind :
                List.of("", "offset-syncs.topic.", "config.storage.", "offset.storage.", "status.storage.")) {
            config.put(kind + "replication.factor", 1);
        }
        return config;
    }
}
