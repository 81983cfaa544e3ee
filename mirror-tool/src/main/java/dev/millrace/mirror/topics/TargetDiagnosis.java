package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Asks the target why it accepts nothing for some partitions. Requests that missing partitions be made ready again.
 *
 * <p><b>Threads:</b> one.
 */
public final class TargetDiagnosis {
    private static final int ANSWER_TIMEOUT_MS = 5_000;
    private static final String GONE = "not on the target, to be created again";
    private static final String NO_LEADER = "without a leader";
    private static final String NOT_TAKEN =
            "with a leader that does not take them (a full disk, or fewer replicas in sync than min.insync.replicas?)";

    private final CopiesOnTarget copies;
    private final TargetPartitions partitions;

    public TargetDiagnosis(CopiesOnTarget copies, TargetPartitions partitions) {
        this.copies = copies;
        this.partitions = partitions;
    }

    /** Returns the cause in a few words. Blocks for at most about 5 s. */
    public String findCause(Set<TopicPartition> stalled) {
        TopicNames names = copies.names();
        Set<String> topics = Clusters.topics(names.onTarget(stalled));
        Map<String, KafkaFuture<TopicDescription>> answers = copies.target()
                .describeTopics(topics, new DescribeTopicsOptions().timeoutMs(ANSWER_TIMEOUT_MS))
                .topicNameValues();
        Map<String, Set<String>> found = new TreeMap<>();
        for (TopicPartition partition : stalled) {
            try {
                String state = state(partition, Clusters.await(answers.get(names.onTarget(partition.topic()))));
                found.computeIfAbsent(state, key -> new TreeSet<>()).add(partition.toString());
            } catch (ExecutionException e) {
                if (e.getCause() instanceof TimeoutException) {
                    return "the target does not answer";
                }
                found.computeIfAbsent(refusal(partition, e.getCause()), key -> new TreeSet<>())
                        .add(partition.toString());
            }
        }
        return found.entrySet().stream()
                .map(state -> Words.count(state.getValue().size(), "partition") + " " + state.getKey())
                .collect(Collectors.joining("; "));
    }

    private String state(TopicPartition partition, TopicDescription topic) {
        if (partition.partition() >= topic.partitions().size()) {
            partitions.onMissing(partition);
            return GONE;
        }
        if (topic.partitions().get(partition.partition()).leader() == null) {
            return NO_LEADER;
        }
        String problem = partitions.problemOrNull(partition.topic());
        return problem == null ? NOT_TAKEN : problem;
    }

    private String refusal(TopicPartition partition, Throwable cause) {
        if (cause instanceof UnknownTopicOrPartitionException) {
            partitions.onMissing(partition);
            String problem = partitions.problemOrNull(partition.topic());
            return problem == null ? GONE : problem;
        }
        return MirrorException.reason(cause);
    }
}
