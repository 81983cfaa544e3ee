package dev.millrace.mirror.resume;

import dev.millrace.client.raw.RawProducer;
import dev.millrace.client.raw.RawProducerId;
import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import dev.millrace.mirror.text.MirrorException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;

/**
 * Assigns a new epoch to a partition's records: one of the producer's own id that the partition has not had. All
 * members of the group in this process share it.
 *
 * <p><b>Threads:</b> any.
 */
public final class NewProducerEpochs {
    private final RawProducer producer;
    /** The last epoch of the producer's own id that each partition has got: none may be given twice. */
    private final Map<TopicPartition, Integer> epochs = new ConcurrentHashMap<>();

    public NewProducerEpochs(RawProducer producer) {
        this.producer = producer;
    }

    /**
     * Returns the new epoch for the record at this source offset; empty until the target has given the producer an id.
     *
     * @param targetOffset as {@link ResumePoint} has it
     * @throws MirrorException when no epoch is left
     */
    public Optional<ResumePoint> next(TopicPartition partition, long offset, long targetOffset) {
        RawProducerId own = producer.idOrNull();
        if (own == null) {
            return Optional.empty();
        }
        int epoch = epochs.merge(partition, own.epoch() + 1, (last, first) -> Math.max(last + 1, first));
        if (epoch > Short.MAX_VALUE) {
            throw MirrorException.failed(partition + " has used up the epochs of producer id " + own.id()
                    + "; start the mirror again to get another id");
        }
        return Optional.of(new ResumePoint(own.id(), (short) epoch, 0, offset, targetOffset));
    }

    /** Notes the producer id and epoch that the partition has got, wherever they come from. */
    void note(TopicPartition partition, ResumePoint resumePoint) {
        RawProducerId own = producer.idOrNull();
        if (own != null && own.id() == resumePoint.producerId()) {
            epochs.merge(partition, (int) resumePoint.epoch(), Math::max);
        }
    }
}
