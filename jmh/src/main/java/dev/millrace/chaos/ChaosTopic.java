package dev.millrace.chaos;

import dev.millrace.testkit.oracle.TopicTerms;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A topic that the threads send to.
 *
 * <p><b>Threads:</b> one changes it, any reads it.
 */
final class ChaosTopic {
    /** What happens to a topic. */
    enum Kind {
        /** Must keep every record that it acknowledges. */
        KEPT,
        /** Has unclean leader elections: by Kafka's own semantics it may lose what it has acknowledged. */
        UNCLEAN,
        /** Is deleted, created anew and given more partitions. */
        CHURNED
    }

    private final String name;
    private final Kind kind;
    private volatile int partitions;

    /** Odd while the topic is being deleted and created anew: nobody can know in which one a record ends. */
    private final AtomicInteger generation = new AtomicInteger();

    ChaosTopic(String name, Kind kind, int partitions) {
        this.name = name;
        this.kind = kind;
        this.partitions = partitions;
    }

    String name() {
        return name;
    }

    Kind kind() {
        return kind;
    }

    int partitions() {
        return partitions;
    }

    int generation() {
        return generation.get();
    }

    void setPartitions(int count) {
        partitions = count;
    }

    /** Call it before the topic is deleted. */
    void onDeleting() {
        generation.incrementAndGet();
    }

    /** Call it when the leaders of all partitions serve the topic of this name that was created last. */
    void onCreatedAnew(int count) {
        partitions = count;
        generation.incrementAndGet();
    }

    TopicTerms terms() {
        return switch (kind) {
            case KEPT -> TopicTerms.kept();
            case UNCLEAN -> TopicTerms.mayLose();
            case CHURNED -> TopicTerms.createdAnew(generation.get());
        };
    }
}
