package dev.millrace.weather;

import dev.millrace.testkit.oracle.TopicDigest;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What there is to break and to judge in one run.
 *
 * @param gone knows what was deleted
 */
record Scene(
        Climate climate,
        Side source,
        Side target,
        List<SourceTopic> topics,
        CopiedProgress copied,
        GoneRecords gone,
        MirrorFleet fleet) {

    /** What the target has of this topic, and what was deleted there. */
    TopicDigest copy(TopicKind topic, Predicate<ConsumerRecord<byte[], byte[]>> isJudged)
            throws ExecutionException, TimeoutException {
        return gone.fromCopy(topic.name()).plus(target.read(climate.copyOf(topic.name()), isJudged));
    }

    /** Which records of this topic count, and copies of them. */
    Predicate<ConsumerRecord<byte[], byte[]>> judged(TopicKind topic) throws ExecutionException, TimeoutException {
        Predicate<ConsumerRecord<byte[], byte[]>> isNewest =
                topic.isCompacted() ? source.newest(topic.name()) : record -> true;
        return isNewest.and(record -> !topic.refuses(record));
    }
}
