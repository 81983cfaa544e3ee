package dev.millrace.mirror.member;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.TopicPartition;

/**
 * A producer whose transactions reach the group of a scripted target: offsets count once their transaction is committed.
 *
 * <p><b>Threads:</b> one.
 */
final class TransactionalProducer extends MockProducer<byte[], byte[]> {
    private final String id;
    private final Map<TopicPartition, OffsetAndMetadata> ofGroup;
    private final Map<TopicPartition, OffsetAndMetadata> pending = new HashMap<>();
    private Runnable beforeCommit = () -> {};
    private Runnable afterCommit = () -> {};

    /** @param ofGroup the offsets of the group, which commits add to */
    TransactionalProducer(String id, Map<TopicPartition, OffsetAndMetadata> ofGroup) {
        this.id = id;
        this.ofGroup = ofGroup;
    }

    String id() {
        return id;
    }

    /** Sets what happens before the target commits; may throw. */
    void beforeCommit(Runnable hook) {
        beforeCommit = hook;
    }

    /** Sets what happens after the target has committed, and before the producer knows; may throw. */
    void afterCommit(Runnable hook) {
        afterCommit = hook;
    }

    @Override
    public void sendOffsetsToTransaction(
            Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata groupMetadata) {
        super.sendOffsetsToTransaction(offsets, groupMetadata);
        pending.putAll(offsets);
    }

    @Override
    public void commitTransaction() {
        beforeCommit.run();
        super.commitTransaction();
        ofGroup.putAll(pending);
        pending.clear();
        afterCommit.run();
    }
}
