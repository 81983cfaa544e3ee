package dev.millrace.mirror.progress;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Finds partitions that were deleted from the source, as a consumer sees it. The consumer cannot commit the offset of
 * such a partition and would retry until its time-out.
 *
 * <p><b>Threads:</b> the member's thread.
 */
public final class SourceTopics {
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(1);

    private final Consumer<?, ?> consumer;

    public SourceTopics(Consumer<?, ?> consumer) {
        this.consumer = consumer;
    }

    /** Returns the partitions whose topic is no longer in the subscription, which follows the topics of the source. */
    public Set<TopicPartition> unsubscribed(Collection<TopicPartition> partitions) {
        Set<String> topics = consumer.subscription();
        return partitions.stream()
                .filter(partition -> !topics.contains(partition.topic()))
                .collect(Collectors.toSet());
    }

    /** Asks the source for its topics, for at most 1 s. Returns the partitions it lacks; none if it does not answer. */
    public Set<TopicPartition> findMissing(Collection<TopicPartition> partitions) {
        try {
            Map<String, List<PartitionInfo>> topics = consumer.listTopics(ANSWER_TIMEOUT);
            return partitions.stream()
                    .filter(partition -> topics.getOrDefault(partition.topic(), List.of()).stream()
                            .noneMatch(info -> info.partition() == partition.partition()))
                    .collect(Collectors.toSet());
        } catch (TimeoutException e) {
            return Set.of();
        }
    }
}
