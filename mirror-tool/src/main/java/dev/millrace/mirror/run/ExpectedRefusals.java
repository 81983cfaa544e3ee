package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.LargestRecord;
import dev.millrace.mirror.topics.TopicSettings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;

/**
 * Predicts which records of the source the target will refuse, from settings and the source's timestamp index. Reads no
 * record.
 *
 * <p><b>Threads:</b> any; immutable.
 */
final class ExpectedRefusals {
    private static final String DIFFERENCE = "message.timestamp.difference.max.ms"; // until Kafka 3.9

    private final Admin source;
    private final LargestRecord producer;
    private final long nowMs;

    ExpectedRefusals(Admin source, LargestRecord producer, long nowMs) {
        this.source = source;
        this.producer = producer;
        this.nowMs = nowMs;
    }

    /**
     * The part of a partition that is to be copied: source offsets from {@code next} up to, not including, {@code end}.
     */
    record Stretch(long next, long end) {
        long length() {
            return end - next;
        }
    }

    /** Returns a phrase that says why records above some size cannot be copied, or none. */
    List<String> tooLarge(Config here, Config there) {
        OptionalLong largest = number(here, TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
        OptionalLong taken = number(there, TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
        boolean isOfTopic = taken.isPresent() && taken.getAsLong() <= producer.bytes();
        long limit = isOfTopic ? taken.getAsLong() : producer.bytes();
        if (largest.isEmpty() || largest.getAsLong() <= limit) {
            return List.of();
        }
        return List.of("records larger than " + Words.count(limit, "byte") + " cannot be copied ("
                + (isOfTopic ? "max.message.bytes of the target" : producer.reason()) + "); the source allows "
                + Words.number(largest.getAsLong()));
    }

    /**
     * Returns what the target will refuse because of timestamps: phrases by topic. Blocks until the source has
     * answered.
     *
     * @param there settings of the copies, by topic of the source
     */
    Map<String, List<String>> ofTimestamps(Map<String, Config> there, Map<TopicPartition, Stretch> stretches) {
        Map<String, List<String>> phrases = new HashMap<>();
        Map<String, Long> before = new HashMap<>();
        Map<String, Long> after = new HashMap<>();
        there.forEach((topic, config) -> {
            if (!TopicSettings.isStampedByBroker(config)) {
                before.put(topic, limit(config, TopicConfig.MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG));
                after.put(topic, limit(config, TopicConfig.MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG));
            }
        });
        before.values().removeIf(limit -> limit > nowMs); // a timestamp is never negative
        after.values().removeIf(limit -> limit >= Long.MAX_VALUE - nowMs);
        byLimit(before, stretches)
                .forEach((limit, partitions) -> tooOld(limit, partitions, stretches)
                        .forEach((topic, count) -> phrases.computeIfAbsent(topic, any -> new ArrayList<>())
                                .add("at least " + Words.count(count, "record") + " older than "
                                        + Words.duration(limit / 1e3)
                                        + " cannot be copied (message.timestamp.before.max.ms of the target)")));
        byLimit(after, stretches)
                .forEach((limit, partitions) -> tooNew(limit, partitions, stretches)
                        .forEach((topic, first) -> phrases.computeIfAbsent(topic, any -> new ArrayList<>())
                                .add("records more than " + Words.duration(limit / 1e3)
                                        + " in the future cannot be copied, such as that of " + first
                                        + " (message.timestamp.after.max.ms of the target)")));
        return phrases;
    }

    /**
     * Groups the partitions that have something to copy by the limit of their topic, so that one request serves many.
     */
    private static Map<Long, List<TopicPartition>> byLimit(
            Map<String, Long> limits, Map<TopicPartition, Stretch> stretches) {
        Map<Long, List<TopicPartition>> partitions = new TreeMap<>();
        stretches.forEach((partition, stretch) -> {
            Long limit = limits.get(partition.topic());
            if (limit != null && stretch.length() > 0) {
                partitions.computeIfAbsent(limit, any -> new ArrayList<>()).add(partition);
            }
        });
        return partitions;
    }

    /** Counts, by topic, the records before the first that is young enough; later ones may be too old as well. */
    private Map<String, Long> tooOld(
            long limitMs, Collection<TopicPartition> partitions, Map<TopicPartition, Stretch> stretches) {
        Map<String, Long> counts = new TreeMap<>();
        firstFrom(nowMs - limitMs, partitions).forEach((partition, first) -> {
            Stretch stretch = stretches.get(partition);
            long refused = (first < 0 ? stretch.end : Math.min(first, stretch.end)) - stretch.next;
            if (refused > 0) {
                counts.merge(partition.topic(), refused, Long::sum);
            }
        });
        return counts;
    }

    /** Returns, by topic, the place of the first record that is too new. */
    private Map<String, String> tooNew(
            long limitMs, Collection<TopicPartition> partitions, Map<TopicPartition, Stretch> stretches) {
        Map<String, String> places = new TreeMap<>();
        firstFrom(nowMs + limitMs + 1, partitions).forEach((partition, first) -> {
            if (first >= stretches.get(partition).next) {
                places.putIfAbsent(partition.topic(), "partition " + partition.partition() + " offset " + first);
            }
        });
        return places;
    }

    /** Returns the offset of the first record with this timestamp or a later one; negative if there is none. */
    private Map<TopicPartition, Long> firstFrom(long timestamp, Collection<TopicPartition> partitions) {
        return Clusters.offsets(source, partitions, OffsetSpec.forTimestamp(timestamp));
    }

    private static long limit(Config config, String name) {
        return Math.min(
                number(config, name).orElse(Long.MAX_VALUE),
                number(config, DIFFERENCE).orElse(Long.MAX_VALUE));
    }

    private static OptionalLong number(Config config, String name) {
        return Clusters.setting(config, name).stream()
                .mapToLong(Long::parseLong)
                .findFirst();
    }
}
