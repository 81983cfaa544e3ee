package dev.millrace.profile;

import java.util.List;
import java.util.OptionalDouble;

/** The stages of {@code send} that KAFKA-3428 profiled, and those that cost most today. Each is a row of the table. */
enum SendStage {
    SEND(
            "`send`",
            OptionalDouble.of(18.9),
            "org/apache/kafka/clients/producer/KafkaProducer.send",
            "dev/millrace/client/MillraceProducer.send"),
    METADATA(
            "`waitOnMetadata` · `TopicLookup.known`",
            OptionalDouble.of(13.8),
            "org/apache/kafka/clients/producer/KafkaProducer.waitOnMetadata",
            "dev/millrace/client/TopicLookup.known",
            "dev/millrace/client/TopicLookup.await"),
    ADD(
            "`containsTopic`, `add` · `TopicRegistry.add`",
            OptionalDouble.of(12.1),
            "org/apache/kafka/clients/producer/internals/ProducerMetadata.add",
            "dev/millrace/client/metadata/TopicRegistry.add"),
    FETCH(
            "`fetch` · `ClusterImages.current`, `ClusterImage.topic`",
            OptionalDouble.of(2.6),
            "org/apache/kafka/clients/Metadata.fetch",
            "dev/millrace/client/metadata/ClusterImages.current",
            "dev/millrace/client/metadata/ClusterImage.topic"),
    APPEND(
            "`RecordAccumulator.append` · `PartitionQueue`",
            OptionalDouble.empty(),
            "org/apache/kafka/clients/producer/internals/RecordAccumulator.append",
            "dev/millrace/client/accumulator/Accumulator.queue",
            "dev/millrace/client/accumulator/PartitionQueue.prefetch",
            "dev/millrace/client/accumulator/PartitionQueue.append"),
    MEMORY(
            "memory: `BufferPool` · `BufferPool`, `MemoryWaiters`",
            OptionalDouble.empty(),
            "org/apache/kafka/clients/producer/internals/BufferPool.",
            "dev/millrace/client/accumulator/BufferPool.",
            "dev/millrace/client/accumulator/MemoryWaiters.");

    private final String label;
    private final OptionalDouble percentInJira;

    @SuppressWarnings("ImmutableEnumChecker") // the list is immutable
    private final List<String> methods;

    /**
     * @param methods of the stock client and of ours; a name that ends with a dot means all methods of the class
     */
    SendStage(String label, OptionalDouble percentInJira, String... methods) {
        this.label = label;
        this.percentInJira = percentInJira;
        this.methods = List.of(methods);
    }

    String label() {
        return label;
    }

    /** Its share of all CPU samples of MirrorMaker with kafka-clients 0.9.0.1, according to KAFKA-3428. */
    OptionalDouble percentInJira() {
        return percentInJira;
    }

    /** Whether a stack is in this stage of {@code send}. Calls of the same methods by the I/O thread are not. */
    boolean contains(List<String> frames) {
        return hasMethod(frames) && SEND.hasMethod(frames);
    }

    private boolean hasMethod(List<String> frames) {
        return frames.stream().anyMatch(this::isMethod);
    }

    /** Whether a frame is one of the methods of this stage. */
    boolean isMethod(String frame) {
        return methods.stream()
                .anyMatch(method -> method.endsWith(".") ? frame.startsWith(method) : frame.equals(method));
    }
}
