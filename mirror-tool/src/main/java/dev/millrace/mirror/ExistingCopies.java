package dev.millrace.mirror;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of partitions that are copied from their first record although the target has records of them. If a mirror was
 * stopped for longer than {@code offsets.retention.minutes}, its group has no positions any more, and all is copied
 * again.
 *
 * <p><b>Threads:</b> any.
 *
 * @param group of the mirror
 */
record ExistingCopies(CopiesOnTarget copies, String group) {
    private static final Logger LOG = LoggerFactory.getLogger(ExistingCopies.class);
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /**
     * To be called before they are copied. Blocks for 5 s at most.
     *
     * @param first of which the group has no position, so that they begin at their first record
     */
    void warnIfAny(Set<TopicPartition> first) {
        if (first.isEmpty()) {
            return;
        }
        try {
            warn(CompletableFuture.supplyAsync(() -> topicsWithRecords(first))
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException | ExecutionException e) {
            LOG.debug("The target does not tell in time whether it has records of {}", first, e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
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

    private void warn(Set<String> copied) {
        if (!copied.isEmpty()) {
            LOG.warn(
                    "Group {} has no position of some partitions of these topics, and the target has records of them:"
                            + " {}. They are copied from their first record. If this mirror has copied them before,"
                            + " they will be there twice: positions of a group expire when it was stopped for longer"
                            + " than offsets.retention.minutes",
                    group,
                    copied);
        }
    }
}
