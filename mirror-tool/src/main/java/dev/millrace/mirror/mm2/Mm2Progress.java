package dev.millrace.mirror.mm2;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.CompactedTopic;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Where MirrorMaker 2 keeps its progress: Kafka Connect writes it into a topic of the target, as JSON, every {@code
 * offset.flush.interval.ms} (a minute by default) and when it is stopped. The key of a source partition is {@code
 * ["connector",{"cluster":"alias","partition":0,"topic":"orders"}]}, its value {@code {"offset":41}} for the last
 * record that the target has acknowledged together with all before it.
 *
 * @param alias what MirrorMaker 2 calls the source
 * @param connector that copies records
 */
public record Mm2Progress(String alias, String topic, String connector) {
    /** The connector's name, if MirrorMaker 2 runs in processes of its own. */
    public static final String CONNECTOR = "MirrorSourceConnector";

    private static final String TOPIC_PREFIX = "mm2-offsets.";
    private static final String TOPIC_SUFFIX = ".internal";

    /** Returns the topic, if MirrorMaker 2 runs in processes of its own. */
    public static String defaultTopic(String alias) {
        return TOPIC_PREFIX + alias + TOPIC_SUFFIX;
    }

    /** Returns the group of MirrorMaker 2's processes, if it runs in processes of its own. */
    String workers() {
        return alias + "-mm2";
    }

    /**
     * Returns, for each partition of the source, the offset at which MirrorMaker 2 would go on. Blocks while the target
     * answers.
     *
     * @throws MirrorException when the target has no such topic, or the topic has nothing of this connector and alias
     */
    Map<TopicPartition, Long> read(Admin target, MirrorConfig config) {
        Map<ByteBuffer, byte[]> kept;
        try (CompactedTopic offsets = new CompactedTopic(topic, CompactedTopic.Home.target(target, config))) {
            kept = offsets.read(key -> true).orElseThrow(() -> missing(target));
        }
        return find(kept);
    }

    /** Finds these offsets among the topic's values, given by key. */
    Map<TopicPartition, Long> find(Map<ByteBuffer, byte[]> kept) {
        Map<TopicPartition, Long> next = new HashMap<>();
        TreeSet<String> others = new TreeSet<>();
        kept.forEach((key, value) -> {
            if (parse(Utils.toArray(key)) instanceof List<?> pair
                    && pair.size() == 2
                    && pair.get(1) instanceof Map<?, ?> of
                    && of.get("topic") instanceof String name
                    && of.get("partition") instanceof Number partition
                    && parse(value) instanceof Map<?, ?> position
                    && position.get("offset") instanceof Number offset) {
                if (connector.equals(pair.get(0)) && alias.equals(of.get("cluster"))) {
                    // If its JSON was ever written in another order, the earlier position is the safe one.
                    next.merge(new TopicPartition(name, partition.intValue()), offset.longValue() + 1, Math::min);
                } else {
                    others.add("connector " + pair.get(0) + " with alias " + of.get("cluster"));
                }
            }
        });
        if (next.isEmpty()) {
            throw MirrorException.failed("Topic " + topic + " on the target has no offsets of connector " + connector
                    + " with alias " + alias
                    + (others.isEmpty() ? "" : ", but of " + String.join(", ", others)));
        }
        return next;
    }

    /** Parses JSON, with a YAML parser because JSON is YAML; returns null if it is neither. */
    private static Object parse(byte[] json) {
        try {
            return new Load(LoadSettings.builder().build()).loadFromString(new String(json, StandardCharsets.UTF_8));
        } catch (YamlEngineException e) {
            return null; // written by another connector
        }
    }

    private MirrorException missing(Admin target) {
        String present = Clusters.awaitUnchecked(target.listTopics().names()).stream()
                .filter(name -> name.startsWith(TOPIC_PREFIX) && name.endsWith(TOPIC_SUFFIX))
                .sorted()
                .collect(Collectors.joining(", "));
        return MirrorException.failed("The target has no topic " + topic + ", where MirrorMaker 2 would keep its"
                + " progress with alias " + alias + (present.isEmpty() ? "" : "; it has " + present));
    }
}
