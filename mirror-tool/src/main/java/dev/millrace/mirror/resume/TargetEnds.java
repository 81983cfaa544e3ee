package dev.millrace.mirror.resume;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.TopicNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * Asks the target where partitions end. It collects such questions for a moment and sends them together.
 *
 * <p><b>Threads:</b> any.
 */
final class TargetEnds {
    private static final long PAUSE_MS = 50;

    private final CopiesOnTarget copies;
    private final Executor executor;
    private final Queue<Question> questions = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isAboutToAsk = new AtomicBoolean();

    /** Does a step after some milliseconds. */
    interface Executor {
        void execute(Runnable step, long afterMs);
    }

    /** What follows when the target has told where a partition ends, or why it does not. */
    private record Question(TopicPartition partition, BiConsumer<ListOffsetsResultInfo, Throwable> onAnswer) {}

    TargetEnds(CopiesOnTarget copies, Executor executor) {
        this.copies = copies;
        this.executor = executor;
    }

    /** Does not block, whatever the target lacks; the executor calls back. */
    void ask(TopicPartition partition, BiConsumer<ListOffsetsResultInfo, Throwable> onAnswer) {
        questions.add(new Question(partition, onAnswer));
        if (isAboutToAsk.compareAndSet(false, true)) {
            executor.execute(this::askTogether, PAUSE_MS);
        }
    }

    private void askTogether() {
        isAboutToAsk.set(false);
        List<Question> together = new ArrayList<>();
        for (Question next = questions.poll(); next != null; next = questions.poll()) {
            together.add(next);
        }
        TopicNames names = copies.names();
        Set<TopicPartition> partitions =
                names.onTarget(together.stream().map(Question::partition).toList());
        ListOffsetsResult answer = copies.target().listOffsets(Clusters.specs(partitions, OffsetSpec.latest()));
        together.forEach(question -> answer.partitionResult(names.onTarget(question.partition()))
                .whenComplete((end, failure) ->
                        executor.execute(() -> question.onAnswer().accept(end, failure), 0)));
    }
}
