package dev.millrace.mirror.kafka;

import dev.millrace.mirror.fetch.AbortedTxn;
import dev.millrace.mirror.fetch.FetchSink;
import dev.millrace.mirror.fetch.FetchedBatches;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import org.apache.kafka.common.TopicPartition;

/**
 * A sink that checks each batch: its checksum, and that it begins where the one before ended. Keeps the bytes of some
 * partitions, and releases all others at once.
 */
final class CollectedBatches implements FetchSink {
    private static final int OVERHEAD = 12;
    private static final int CRC_AT = 17;
    private static final int CHECKED_FROM = 21;
    private static final int LAST_OFFSET_DELTA_AT = 23;
    private static final int RECORD_COUNT_AT = 57;

    private final Predicate<TopicPartition> keeps;
    private final Map<TopicPartition, Long> ends = new ConcurrentHashMap<>();
    private final Map<TopicPartition, Long> records = new ConcurrentHashMap<>();
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private final Queue<String> resets = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final Queue<FetchedBatches> kept = new ConcurrentLinkedQueue<>();
    private final Queue<AbortedTxn> aborted = new ConcurrentLinkedQueue<>();
    private volatile long keptBytes;

    CollectedBatches(Predicate<TopicPartition> keeps) {
        this.keeps = keeps;
    }

    @Override
    public void onFetched(FetchedBatches fetched) {
        check(fetched);
        aborted.addAll(fetched.aborted());
        if (keeps.test(fetched.partition())) {
            synchronized (this) {
                keptBytes += fetched.bytes().remaining();
            }
            kept.add(fetched);
        } else {
            fetched.release();
        }
    }

    private void check(FetchedBatches fetched) {
        TopicPartition partition = fetched.partition();
        ByteBuffer bytes = fetched.bytes();
        long end = ends.getOrDefault(partition, fetched.fetchOffset());
        if (fetched.fetchOffset() != end) {
            errors.add(partition + ": fetched from " + fetched.fetchOffset() + " instead of " + end);
        }
        long count = 0;
        int at = bytes.position();
        while (at < bytes.limit()) {
            int size = OVERHEAD + bytes.getInt(at + 8);
            long base = bytes.getLong(at);
            CRC32C crc = new CRC32C();
            crc.update(bytes.slice(at + CHECKED_FROM, size - CHECKED_FROM));
            if ((int) crc.getValue() != bytes.getInt(at + CRC_AT)) {
                errors.add(partition + ": wrong checksum at " + base);
            }
            if (base != end) {
                errors.add(partition + ": a batch at " + base + " instead of " + end);
            }
            end = base + bytes.getInt(at + LAST_OFFSET_DELTA_AT) + 1;
            count += bytes.getInt(at + RECORD_COUNT_AT);
            at += size;
        }
        records.merge(partition, count, Long::sum);
        ends.put(partition, end);
    }

    @Override
    public void onOffsetReset(TopicPartition partition, long from, long to, String cause) {
        resets.add(partition + " " + from + " " + to + " " + cause);
        ends.put(partition, to);
    }

    @Override
    public void onFailure(TopicPartition partitionOrNull, Throwable failure) {
        failures.add(failure);
    }

    /** The offset after the last batch of the partition; 0 before the first. */
    long end(TopicPartition partition) {
        return ends.getOrDefault(partition, 0L);
    }

    long records() {
        return records.values().stream().mapToLong(Long::longValue).sum();
    }

    long keptBytes() {
        return keptBytes;
    }

    /** Releases what is kept now. */
    void releaseKept() {
        for (FetchedBatches fetched = kept.poll(); fetched != null; fetched = kept.poll()) {
            synchronized (this) {
                keptBytes -= fetched.bytes().remaining();
            }
            fetched.release();
        }
    }

    List<String> errors() {
        return new ArrayList<>(errors);
    }

    List<String> resets() {
        return new ArrayList<>(resets);
    }

    List<Throwable> failures() {
        return new ArrayList<>(failures);
    }

    List<AbortedTxn> aborted() {
        return new ArrayList<>(aborted);
    }
}
