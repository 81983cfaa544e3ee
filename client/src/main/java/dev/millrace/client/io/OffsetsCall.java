package dev.millrace.client.io;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Offsets of a consumer group on their way into the transaction; but for {@code call} the first I/O thread's alone. */
final class OffsetsCall {
    final TransactionCall call = new TransactionCall("sendOffsetsToTransaction");
    final ConsumerGroupMetadata group;

    /** What the group's coordinator has not taken yet. */
    final Map<TopicPartition, OffsetAndMetadata> left;

    /** Whether the transaction's coordinator was asked to add the group, and may have done so. */
    boolean asked;

    /** Whether it has. */
    boolean added;

    OffsetsCall(Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
        this.left = new HashMap<>(offsets);
        this.group = group;
    }
}
