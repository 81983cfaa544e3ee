package dev.millrace.mirror.status;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;

/**
 * Counts what one member's thread has done so far.
 *
 * <p><b>Threads:</b> the member's thread writes, any thread reads.
 * <p><b>Ordering:</b> none between the counters. Each is stored with release, so that the writer never waits.
 */
public final class ThreadCounters {
    /** A measured lag is valid for this long; after that the source may have grown. */
    static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong acked = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong fetchedBytes = new AtomicLong();
    private final AtomicLong unpolled = new AtomicLong();
    private final AtomicLong unpolledNanos;
    private final AtomicLong aliveNanos;
    private final Map<TopicPartition, PartitionCounters> partitions = new ConcurrentHashMap<>();
    private volatile boolean isMember;

    public ThreadCounters(long nowNanos) {
        aliveNanos = new AtomicLong(nowNanos);
        unpolledNanos = new AtomicLong(nowNanos - FRESH_NANOS);
    }

    /** Counts records handed to the producer, and the bytes of their keys and values. */
    public void addSent(long records, long size) {
        sent.setRelease(sent.getPlain() + records);
        bytes.setRelease(bytes.getPlain() + size);
        unpolled.setRelease(Math.max(0, unpolled.getPlain() - records));
    }

    /** Counts bytes of batches as the source has them. Only the fetching thread calls it. */
    public void addFetched(long size) {
        fetchedBytes.setRelease(fetchedBytes.getPlain() + size);
    }

    public long fetchedBytes() {
        return fetchedBytes.getAcquire();
    }

    public void addAcked(long records) {
        acked.setRelease(acked.getPlain() + records);
    }

    /** Counts records that were sent and are no longer awaited because their partition was given up. */
    public void addDropped(long records) {
        dropped.setRelease(dropped.getPlain() + records);
    }

    /**
     * Sets the number of records of the thread's partitions that it has not polled yet; sending counts down from there.
     *
     * @param complete whether the number is known for all partitions
     */
    public void setUnpolled(long records, boolean complete, long nowNanos) {
        unpolled.setRelease(records);
        unpolledNanos.setRelease(complete ? nowNanos : nowNanos - FRESH_NANOS);
    }

    /** Returns the counters of a partition, which remain for as long as the process runs. */
    public PartitionCounters of(TopicPartition partition) {
        PartitionCounters known = partitions.get(partition);
        return known == null ? partitions.computeIfAbsent(partition, PartitionCounters::new) : known;
    }

    public Collection<PartitionCounters> partitions() {
        return partitions.values();
    }

    /**
     * Notes that the thread works. Call it every few seconds.
     *
     * @param hasJoined whether it is a member of its group
     * @param owned the partitions that the group has assigned to it
     */
    public void onAlive(boolean hasJoined, Set<TopicPartition> owned, long nowNanos) {
        isMember = hasJoined;
        aliveNanos.setRelease(nowNanos);
        partitions.forEach((partition, counters) -> {
            if (!owned.contains(partition)) {
                counters.onGivenUp();
            }
        });
    }

    /** Returns what {@link #onAlive} was last given; at first, a thread that is no member. */
    public MemberStatus member(String name, long nowNanos) {
        long owned =
                partitions.values().stream().filter(PartitionCounters::isOwned).count();
        return new MemberStatus(name, isMember, (int) owned, (nowNanos - aliveNanos.getAcquire()) / 1e9);
    }

    public MirrorTotals totals(long nowNanos) {
        // Outcomes are read first. Read last, they could exceed the number read as sent.
        long done = acked.getAcquire();
        long gone = dropped.getAcquire();
        boolean lagKnown = nowNanos - unpolledNanos.getAcquire() < FRESH_NANOS;
        return new MirrorTotals(sent.getAcquire(), done, gone, bytes.getAcquire(), unpolled.getAcquire(), lagKnown);
    }
}
