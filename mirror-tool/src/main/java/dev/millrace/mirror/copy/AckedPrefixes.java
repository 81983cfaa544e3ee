package dev.millrace.mirror.copy;

import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.resume.PartitionStarts;
import dev.millrace.mirror.status.MirrorObserver;
import dev.millrace.mirror.status.ThreadCounters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@link AckedPrefix} of each partition that a member's thread owns, and of each that it has given up while the
 * producer still holds records of it. Records of the latter are counted until their outcome is known, and never
 * committed.
 *
 * <p><b>Threads:</b> the member's thread.
 * <p><b>Ordering:</b> see {@link AckedPrefix} and {@link ThreadCounters}.
 */
final class AckedPrefixes {
    private static final Logger LOG = LoggerFactory.getLogger(AckedPrefixes.class);

    private final java.util.function.Consumer<MirrorException> onFailure;
    private final PartitionStarts.Metadata metadata;
    private final ThreadCounters counters;
    private final MirrorObserver observer;
    private final Map<TopicPartition, AckedPrefix> owned = new HashMap<>();
    private final Map<TopicPartition, Uuid> topicIds = new HashMap<>();
    private final List<GivenUp> givenUp = new ArrayList<>();

    private record GivenUp(TopicPartition partition, AckedPrefix prefix) {}

    /**
     * @param onFailure called for every record of an owned partition that could not be written, in the thread that
     *     completes it; must not block
     * @param metadata is added to positions, without producer id, epoch and sequence
     */
    AckedPrefixes(
            java.util.function.Consumer<MirrorException> onFailure,
            PartitionStarts.Metadata metadata,
            ThreadCounters counters,
            MirrorObserver observer) {
        this.onFailure = onFailure;
        this.metadata = metadata;
        this.counters = counters;
        this.observer = observer;
    }

    /** @param goesBack as in {@link AckedPrefix}, like {@code runs} */
    void add(TopicPartition partition, Uuid topicId, boolean goesBack, AckedRuns runs) {
        owned.put(partition, new AckedPrefix(partition, goesBack, runs, onFailure));
        topicIds.put(partition, topicId);
    }

    /** Forgets what was sent of the partition, whose records all have an outcome. */
    void forget(TopicPartition partition) {
        counters.addDropped(owned.remove(partition).outstanding());
    }

    /** Returns whether no prefix that was given up still has records of the partition without an outcome. */
    boolean isSettled(TopicPartition partition) {
        return givenUp.stream()
                .noneMatch(next ->
                        next.partition().equals(partition) && !next.prefix().isSettled());
    }

    AckedPrefix get(TopicPartition partition) {
        return owned.get(partition);
    }

    Set<TopicPartition> partitions() {
        return owned.keySet();
    }

    /** Advances all prefixes over the outcomes that have arrived since the last call. */
    void advance() {
        long acked = 0;
        for (Map.Entry<TopicPartition, AckedPrefix> entry : owned.entrySet()) {
            AckedPrefix prefix = entry.getValue();
            long more = prefix.advance(counters.of(entry.getKey()));
            if (more > 0) {
                acked += more;
                observer.onAcknowledged(entry.getKey(), prefix.position().offset());
            }
        }
        for (Iterator<GivenUp> left = givenUp.iterator(); left.hasNext(); ) {
            GivenUp next = left.next();
            acked += next.prefix().advance(counters.of(next.partition()));
            if (!next.prefix().isAwaited()) {
                left.remove();
                drop(next);
            }
        }
        counters.addAcked(acked);
    }

    /** Returns the number of records, of all partitions, whose outcome the last {@link #advance} did not see. */
    long outstanding() {
        long owns = owned.values().stream().mapToLong(AckedPrefix::outstanding).sum();
        return owns
                + givenUp.stream()
                        .mapToLong(next -> next.prefix().outstanding())
                        .sum();
    }

    /**
     * Returns the partitions with outstanding records, and others that the caller names, each with the source offset
     * before which all is acknowledged; -1 before the first acknowledgement.
     */
    Map<TopicPartition, Long> waiting(Predicate<TopicPartition> isUnsent) {
        Map<TopicPartition, Long> waiting = new HashMap<>();
        owned.forEach((partition, prefix) -> {
            if (prefix.outstanding() > 0 || isUnsent.test(partition)) {
                waiting.put(
                        partition,
                        prefix.position() == null ? -1L : prefix.position().offset());
            }
        });
        return waiting;
    }

    /** Returns those of the partitions that have records to wait for. */
    List<TopicPartition> awaited(Collection<TopicPartition> partitions) {
        return partitions.stream()
                .filter(partition ->
                        owned.containsKey(partition) && owned.get(partition).isAwaited())
                .toList();
    }

    /** Returns the positions that may be committed. */
    Map<TopicPartition, OffsetAndMetadata> positions(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (TopicPartition partition : partitions) {
            AckedPrefix prefix = owned.get(partition);
            if (prefix != null && prefix.position() != null) {
                positions.put(
                        partition,
                        metadata.addTo(partition, prefix.position(), topicIds.get(partition), Optional.empty()));
            }
        }
        return positions;
    }

    /** Removes partitions that the thread no longer owns. A failure of their outstanding records no longer counts. */
    void giveUp(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            AckedPrefix prefix = owned.remove(partition);
            if (prefix != null) {
                prefix.giveUp();
                givenUp.add(new GivenUp(partition, prefix));
            }
        }
        advance();
    }

    /** Removes all partitions. Records of owned partitions without an outcome stay counted as in flight. */
    void clear() {
        owned.clear();
        givenUp.forEach(next -> counters.addDropped(next.prefix().outstanding()));
        givenUp.clear();
    }

    private void drop(GivenUp done) {
        long left = done.prefix().outstanding();
        if (left > 0) {
            counters.addDropped(left);
            LOG.info(
                    "{} of {} not acknowledged when the partition was given up; its next owner copies them",
                    Words.count(left, "record"),
                    done.partition());
        }
    }
}
