package dev.millrace.mirror.verify;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Compares the last record of each key, which is all that two clusters have in common if each compacts in its own time.
 * Ignores records without a key, as compaction does.
 *
 * <p>The memory is bounded: if there are more keys than the table may hold, the keys are divided by their checksums,
 * and both sides are read once for each part.
 *
 * <p><b>Threads:</b> one.
 */
final class KeyComparison {
    static final int MOST_KEYS = 1 << 19;

    private final Log source;
    private final Log target;
    private final PartitionRange range;
    private final PartitionTally tally;
    private final boolean isWithTimestamp;
    private final int mostKeys;
    private final Deque<Part> parts = new ArrayDeque<>();

    /** One side of the partition. */
    interface Log {
        /** Passes on the records between two offsets. Blocks while they arrive. */
        void read(long from, long to, Consumer<ConsumerRecord<byte[], byte[]>> handler);

        /** Returns the present end of the partition. */
        long presentEnd();
    }

    /** The keys whose checksum ends with these bits. */
    private record Part(int bits, long value) {
        boolean contains(long key) {
            return (key & (1L << bits) - 1) == value;
        }

        Part half(long which) {
            return new Part(bits + 1, value | which << bits);
        }
    }

    /** A key on which the two sides disagree. */
    private record Doubtful(long sourceDigest, long sourceOffset, long targetDigest, long targetOffset) {}

    KeyComparison(
            Log source, Log target, PartitionRange range, PartitionTally tally, boolean isWithTimestamp, int mostKeys) {
        this.source = source;
        this.target = target;
        this.range = range;
        this.tally = tally;
        this.isWithTimestamp = isWithTimestamp;
        this.mostKeys = mostKeys;
    }

    void run() {
        parts.add(new Part(0, 0));
        while (!parts.isEmpty()) {
            compare(parts.remove());
        }
    }

    private void compare(Part whole) {
        KeyTable table = new KeyTable();
        Part[] part = {whole};
        source.read(range.sourceFrom(), range.sourceTo(), record -> {
            if (isIn(part[0], record)) {
                table.putSource(RecordDigest.ofKey(record.key()), digest(record), record.offset());
                part[0] = shrinkIfFull(table, part[0]);
            }
        });
        target.read(range.targetFrom(), range.targetTo(), record -> {
            if (isIn(part[0], record)) {
                table.putTarget(RecordDigest.ofKey(record.key()), digest(record), record.offset());
                part[0] = shrinkIfFull(table, part[0]);
            }
        });
        Map<Long, Doubtful> doubtful = new HashMap<>();
        table.forEach((key, sourceDigest, sourceOffset, targetDigest, targetOffset) -> {
            if (sourceDigest == targetDigest) {
                tally.onSame();
            } else {
                doubtful.put(key, new Doubtful(sourceDigest, sourceOffset, targetDigest, targetOffset));
            }
        });
        if (!doubtful.isEmpty()) {
            Set<Long> changed = findChanged(doubtful.keySet());
            doubtful.forEach((key, found) -> report(found, changed.contains(key)));
        }
    }

    private static boolean isIn(Part part, ConsumerRecord<byte[], byte[]> record) {
        return record.key() != null && part.contains(RecordDigest.ofKey(record.key()));
    }

    /** Returns the digest of a record; a tombstone counts as no record, since each side deletes it in its own time. */
    private long digest(ConsumerRecord<byte[], byte[]> record) {
        if (record.value() == null) {
            return KeyTable.NONE;
        }
        long digest = RecordDigest.of(record, isWithTimestamp);
        return digest == KeyTable.NONE ? 1 : digest;
    }

    private Part shrinkIfFull(KeyTable table, Part part) {
        Part smaller = part;
        while (table.size() > mostKeys) {
            parts.add(smaller.half(1));
            smaller = smaller.half(0);
            table.retain(smaller::contains);
        }
        return smaller;
    }

    /** Returns keys with a record after the ends: a side may meanwhile have compacted their earlier records away. */
    private Set<Long> findChanged(Set<Long> keys) {
        Set<Long> changed = new HashSet<>();
        Consumer<ConsumerRecord<byte[], byte[]>> note = record -> {
            if (record.key() != null) {
                long key = RecordDigest.ofKey(record.key());
                if (keys.contains(key)) {
                    changed.add(key);
                }
            }
        };
        source.read(range.sourceTo(), source.presentEnd(), note);
        target.read(range.targetTo(), target.presentEnd(), note);
        return changed;
    }

    private void report(Doubtful key, boolean isChanged) {
        boolean isOnSource = key.sourceDigest != KeyTable.NONE;
        boolean isOnTarget = key.targetDigest != KeyTable.NONE;
        tally.onUnmatched(isOnSource ? 1 : 0, isOnTarget ? 1 : 0);
        long sourceOffset = isOnSource ? key.sourceOffset : PartitionTally.NO_OFFSET;
        long targetOffset = isOnTarget ? key.targetOffset : PartitionTally.NO_OFFSET;
        if (isChanged || key.sourceOffset >= range.copiedUpTo()) {
            tally.onNotCopiedYet(1);
        } else if (isOnSource && isOnTarget) {
            tally.add(Fault.DIFFERENT, sourceOffset, sourceOffset, targetOffset);
        } else if (isOnSource && range.mayTargetLackFirst()) {
            tally.onNotOnTarget(1);
        } else if (isOnTarget && range.maySourceLackFirst()) {
            tally.onNotOnSource(1);
        } else {
            tally.add(
                    isOnSource ? Fault.MISSING : Fault.EXTRA,
                    Math.max(sourceOffset, targetOffset),
                    sourceOffset,
                    targetOffset);
        }
    }
}
