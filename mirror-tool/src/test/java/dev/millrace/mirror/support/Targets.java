package dev.millrace.mirror.support;

import dev.millrace.mirror.progress.CopiedTopics;
import dev.millrace.mirror.topics.RefusedTopics;
import dev.millrace.mirror.topics.TargetPartitions;
import java.util.Collection;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Makes partitions of a target that are ready without a cluster. */
public final class Targets {
    private Targets() {}

    /**
     * Partitions that are made ready in the caller's thread.
     *
     * @param ensure as {@link TargetPartitions.Preparation#ensure}
     */
    public static TargetPartitions prepared(Predicate<TopicPartition> ensure, Consumer<Throwable> onFailure) {
        return prepared(ensure, onFailure, new RefusedTopics(null));
    }

    /** As the other, and tells these of topics that are refused. */
    public static TargetPartitions prepared(
            Predicate<TopicPartition> ensure, Consumer<Throwable> onFailure, RefusedTopics refused) {
        TargetPartitions.Preparation preparation = new TargetPartitions.Preparation() {
            @Override
            public boolean ensure(TopicPartition partition) {
                return ensure.test(partition);
            }

            @Override
            public void forget(String topic) {}

            @Override
            public Map<String, Uuid> askForIds(Collection<String> topics) {
                return Map.of();
            }
        };
        return new TargetPartitions(
                preparation, onFailure, refused, new CopiedTopics(), Runnable::run, System::nanoTime);
    }
}
