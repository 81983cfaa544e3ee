package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.CopiesOnTarget;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of partitions that are copied from their first record although the target already has their records. A mirror
 * stopped for longer than {@code offsets.retention.minutes} has lost its group's positions and copies everything again.
 *
 * <p><b>Threads:</b> any.
 */
public final class ExistingCopies {
    private static final Logger LOG = LoggerFactory.getLogger(ExistingCopies.class);

    private final CopiesOnTarget copies;
    private final Set<TopicPartition> withoutPosition = ConcurrentHashMap.newKeySet();

    public ExistingCopies(CopiesOnTarget copies) {
        this.copies = copies;
    }

    /** Notes partitions for which the group has no position and which therefore begin at their first record. */
    public void onWithoutPosition(Set<TopicPartition> partitions) {
        withoutPosition.addAll(partitions);
    }

    /** Checks the noted partitions of these topics before they are copied. Blocks while the target answers. */
    public void warnIfAny(Set<String> topics) {
        Set<TopicPartition> first = withoutPosition.stream()
                .filter(partition -> topics.contains(partition.topic()))
                .collect(Collectors.toSet());
        withoutPosition.removeAll(first);
        if (first.isEmpty()) {
            return;
        }
        try {
            warn(topicsWithRecords(first));
        } catch (RetriableException e) {
            LOG.debug("The target does not tell whether it has records of {}", first, e);
        }
    }

    private Set<String> topicsWithRecords(Set<TopicPartition> partitions) {
        Set<String> topics = new TreeSet<>();
        copies.offsetsOfLed(copies.existing(partitions), OffsetSpec.latest()).forEach((partition, end) -> {
            if (end > 0) {
                topics.add(partition.topic());
            }
        });
        return topics;
    }

    private static void warn(Set<String> copied) {
        if (!copied.isEmpty()) {
            LOG.warn(
                    "The mirror's group has no position of some partitions of these topics, and the target has records"
                            + " of them: {}. They are copied from their first record. If this mirror has copied them"
                            + " before, they will be there twice: positions of a group expire when it was stopped for"
                            + " longer than offsets.retention.minutes",
                    copied);
        }
    }
}
