package dev.millrace.client.io;

import dev.millrace.client.io.TransactionFacts.Begun;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Offsets of a consumer group to be committed in the transaction.
 *
 * <p><b>Threads:</b> the first I/O thread, except {@code call}.
 */
final class OffsetsCall {
    final TransactionCall call = new TransactionCall("sendOffsetsToTransaction");
    final ConsumerGroupMetadata group;

    /** Offsets that the group's coordinator has not accepted yet. */
    final Map<TopicPartition, OffsetAndMetadata> left;

    /** Whether the transaction's coordinator has added the group; {@code PERHAPS} once it has a request to. */
    Begun added = Begun.NO;

    OffsetsCall(Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
        this.left = new HashMap<>(offsets);
        this.group = group;
    }
}
