package dev.millrace.mirror.refused;

import dev.millrace.client.raw.RawProducer;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.config.TopicNames;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * Takes back from the producer the records that it holds of partitions that a member gives up: written later, they
 * would come after what the next owner writes. The stock producer cannot do this; records that it holds may still be
 * written.
 *
 * <p><b>Threads:</b> any.
 */
public final class RecordWithdrawal {
    private final RawProducer rawOrNull;
    private final TopicNames names;

    /**
     * The failure of records that are taken back. This process no longer owns them, so it is no failure of the mirror.
     */
    public static final class GivenUpException extends KafkaException {
        private static final long serialVersionUID = 1L;

        public GivenUpException() {
            super("The partition was given up");
        }
    }

    public RecordWithdrawal(ProducerKind kind, Producer<byte[], byte[]> producer, TopicNames names) {
        this.names = names;
        rawOrNull = kind == ProducerKind.MILLRACE ? RawProducer.of(producer) : null;
    }

    /**
     * Takes the records back. To be called after the last record of the partitions was sent; does not block.
     *
     * @param partitions of the source
     * @return completes when none of their records can be written any more, as far as the producer can ensure that
     */
    public CompletableFuture<Void> withdraw(Collection<TopicPartition> partitions) {
        List<CompletableFuture<Void>> withdrawn = new ArrayList<>();
        if (rawOrNull != null) {
            for (TopicPartition partition : partitions) {
                withdrawn.add(rawOrNull.withdraw(
                        names.onTarget(partition.topic()), partition.partition(), new GivenUpException()));
            }
        }
        return CompletableFuture.allOf(withdrawn.toArray(CompletableFuture[]::new));
    }
}
