package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.ByTopic;
import dev.millrace.mirror.fetch.ResetPolicy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/** Finds where places in logs are, such as the first record since some time. */
public final class LogPlaces {
    private LogPlaces() {}

    /**
     * Returns an offset for each partition. Asks the source, and blocks until it has answered.
     *
     * @param places by topic
     * @param starts the first offset of each partition
     * @param ends the offset after the last one that a reader with this isolation level sees
     */
    public static Map<TopicPartition, Long> find(
            ByTopic<ResetPolicy> places,
            Admin source,
            IsolationLevel isolation,
            Map<TopicPartition, Long> starts,
            Map<TopicPartition, Long> ends) {
        Map<TopicPartition, Long> found = new HashMap<>(starts);
        long nowMs = System.currentTimeMillis();
        Map<Long, List<TopicPartition>> byTime = starts.keySet().stream()
                .filter(partition -> places.of(partition.topic()).isByTime())
                .collect(Collectors.groupingBy(
                        partition -> places.of(partition.topic()).timestampAt(nowMs)));
        byTime.forEach((timestamp, partitions) ->
                found.putAll(Clusters.offsets(source, partitions, OffsetSpec.forTimestamp(timestamp), isolation)));
        // A negative offset: no record was that recent. One that has come since is after the end that was asked for
        // before.
        found.replaceAll((partition, offset) ->
                offset < 0 || places.of(partition.topic()).isLatest() ? ends.get(partition) : offset);
        return found;
    }
}
