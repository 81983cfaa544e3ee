package dev.millrace.mirror.mm2;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.resume.RecordComparison;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether the target has all records that the source has before an offset. A mirror writes a partition in
 * order, so it is enough to find the last record before the offset.
 *
 * <p><b>Threads:</b> one.
 */
final class CopyCheck {
    private static final Logger LOG = LoggerFactory.getLogger(CopyCheck.class);

    /** Says whether the target has the records of a source partition before an offset. */
    enum Verdict {
        /** It has the last of them, or the source has none left. */
        PRESENT,
        /** It has never had a record of the partition, or the offset is past the end of the source's partition. */
        ABSENT,
        /** It has records, but the last one before the offset was not found among them. */
        UNCLEAR
    }

    /**
     * How many offsets before the given one are read first. If all of them are compacted, aborted or markers, twice as
     * many are read, and so on.
     */
    private static final int LOOK_BACK = 100;
    /** How many records are searched for the copy from the first of its timestamp on, and how many of the last ones. */
    private static final int SEARCHED_COPIES = 200_000;

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(30);

    private final CopiesOnTarget copies;
    private final KafkaConsumer<byte[], byte[]> sourceReader;
    private final KafkaConsumer<byte[], byte[]> targetReader;
    private final Map<TopicPartition, Long> sourceStarts;
    private final Map<TopicPartition, Long> sourceEnds;
    private final Map<TopicPartition, Long> sourceStableEnds;
    private final Map<TopicPartition, Long> targetStarts;
    private final Map<TopicPartition, Long> targetEnds;

    /**
     * @param sourceReader a consumer of the source without a group; the caller closes it
     * @param targetReader a consumer of the target without a group; the caller closes it
     * @param partitions of the source, those to check
     */
    CopyCheck(
            Admin source,
            CopiesOnTarget copies,
            KafkaConsumer<byte[], byte[]> sourceReader,
            KafkaConsumer<byte[], byte[]> targetReader,
            Collection<TopicPartition> partitions) {
        this.copies = copies;
        this.sourceReader = sourceReader;
        this.targetReader = targetReader;
        sourceStarts = Clusters.offsets(source, partitions, OffsetSpec.earliest());
        sourceEnds = Clusters.offsets(source, partitions, OffsetSpec.latest());
        sourceStableEnds = Clusters.offsets(source, partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED);
        Set<TopicPartition> existing = copies.existing(partitions);
        targetStarts = copies.offsets(existing, OffsetSpec.earliest());
        targetEnds = copies.offsets(existing, OffsetSpec.latest());
    }

    /**
     * Checks one of the partitions. Blocks until a few records are read from both clusters, at most about 30 s each.
     */
    Verdict check(TopicPartition partition, long offset) {
        long start = sourceStarts.get(partition);
        if (offset > sourceEnds.get(partition)) {
            return Verdict.ABSENT; // the topic was deleted and created again
        }
        if (offset <= start) {
            return Verdict.PRESENT;
        }
        long targetEnd = targetEnds.getOrDefault(partition, 0L);
        if (targetEnd == 0) {
            return Verdict.ABSENT;
        }
        try {
            ConsumerRecord<byte[], byte[]> last =
                    lastOrNull(partition, start, Math.min(offset, sourceStableEnds.get(partition)));
            return last == null || isOnTarget(last, partition, targetEnd) ? Verdict.PRESENT : Verdict.UNCLEAR;
        } catch (KafkaException e) {
            LOG.warn("Cannot compare {} with its copy: {}", partition, MirrorException.reason(e));
            return Verdict.UNCLEAR;
        }
    }

    /** Returns null if the source has no record between these offsets. */
    private ConsumerRecord<byte[], byte[]> lastOrNull(TopicPartition partition, long start, long end) {
        AtomicReference<ConsumerRecord<byte[], byte[]>> last = new AtomicReference<>();
        long from = end;
        for (long back = LOOK_BACK; last.get() == null && from > start; back *= 2) {
            from = Math.max(start, end - back);
            read(sourceReader, partition, from, end, record -> {
                last.set(record);
                return true;
            });
        }
        return last.get();
    }

    private boolean isOnTarget(ConsumerRecord<byte[], byte[]> record, TopicPartition partition, long targetEnd) {
        if (record.timestamp() < 0) {
            return false; // a record of the oldest format has no timestamp, so the target has given its copy one
        }
        TopicPartition copy = copies.names().onTarget(partition);
        ListOffsetsResultInfo first = Clusters.awaitUnchecked(copies.target()
                .listOffsets(Map.of(copy, OffsetSpec.forTimestamp(record.timestamp())))
                .partitionResult(copy));
        // Timestamps need not rise: a record with this one is after the first that is not older, if there is one. If
        // the target replaces timestamps, they say less. A mirror that has stopped wrote the record as one of its last.
        long end = first.offset() < 0
                ? targetStarts.get(partition)
                : Math.min(targetEnd, first.offset() + SEARCHED_COPIES);
        boolean isFoundByTime = first.offset() >= 0 && isBetween(first.offset(), end, record, copy);
        return isFoundByTime || isBetween(Math.max(end, targetEnd - SEARCHED_COPIES), targetEnd, record, copy);
    }

    private boolean isBetween(long from, long to, ConsumerRecord<byte[], byte[]> record, TopicPartition copy) {
        AtomicBoolean isFound = new AtomicBoolean();
        read(targetReader, copy, from, to, candidate -> {
            boolean isMatch = RecordComparison.isCopy(record, candidate);
            if (isMatch) {
                isFound.set(true);
            }
            return !isMatch;
        });
        return isFound.get();
    }

    /** Reads records up to {@code to}, until {@code goesOn} returns false for one. */
    private static void read(
            KafkaConsumer<byte[], byte[]> reader,
            TopicPartition partition,
            long from,
            long to,
            Predicate<ConsumerRecord<byte[], byte[]>> goesOn) {
        long start = System.nanoTime();
        reader.assign(List.of(partition));
        reader.seek(partition, from);
        while (reader.position(partition) < to) {
            if (System.nanoTime() - start > READ_TIMEOUT.toNanos()) {
                throw new TimeoutException("no records of " + partition + " within " + READ_TIMEOUT.toSeconds() + " s");
            }
            for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
                if (record.offset() >= to || !goesOn.test(record)) {
                    return;
                }
            }
        }
    }
}
