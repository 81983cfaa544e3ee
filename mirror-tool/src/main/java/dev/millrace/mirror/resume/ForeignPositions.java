package dev.millrace.mirror.resume;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.progress.MirrorPositions;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports, when a mirror starts, positions in its group that no mirror has committed: an operator has reset them, or
 * another program uses the group, too. The mirror goes on there, and what lies between the end of its copy and that
 * offset is copied twice or left out. The overwritten position is not known any more, so it is looked for: it follows
 * the source's record that is the last one of the copy.
 *
 * <p><b>Threads:</b> one. The search takes up to a few seconds.
 */
public final class ForeignPositions {
    private static final Logger LOG = LoggerFactory.getLogger(ForeignPositions.class);
    /** All positions are reported, but the ends of only so many copies are looked for. */
    private static final int COMPARED = 20;

    private final MirrorConfig config;
    private final Admin source;
    private final CopiesOnTarget copies;

    public ForeignPositions(MirrorConfig config, Admin source, Admin target) {
        this.config = config;
        this.source = source;
        this.copies = new CopiesOnTarget(target, config.names());
    }

    /** @param positions of the mirror */
    public void tell(MirrorPositions positions) {
        Map<TopicPartition, Long> foreign = new TreeMap<>(Clusters.PARTITION_ORDER);
        positions.committed().forEach((partition, position) -> {
            if (isMirrored(partition) && CommitMetadata.of(position).targetId().isEmpty()) {
                foreign.put(partition, position.offset());
            }
        });
        if (foreign.isEmpty()) {
            return;
        }
        List<String> changes = new ArrayList<>();
        Map<TopicPartition, Long> ends = endsOfCopies(foreign.keySet());
        foreign.forEach((partition, to) -> {
            OptionalLong from =
                    ends.containsKey(partition) ? OptionalLong.of(ends.get(partition)) : OptionalLong.empty();
            if (from.isEmpty() || from.getAsLong() != to) {
                changes.add(describe(partition, from, to));
            }
        });
        if (!changes.isEmpty()) {
            LOG.warn(
                    "Group {} on the {} has positions that no mirror has committed; an operator has reset them, or"
                            + " another program uses the group. The mirror goes on there: {}",
                    positions.group(),
                    positions.isGroupOnTarget() ? "target" : "source",
                    Words.list(changes, "partition"));
        }
    }

    private boolean isMirrored(TopicPartition partition) {
        return config.mirroredTopics().matcher(partition.topic()).matches();
    }

    private static String describe(TopicPartition partition, OptionalLong from, long to) {
        if (from.isEmpty()) {
            return partition + " at " + to + ", and it is not known where its copy ends";
        }
        long difference = to - from.getAsLong();
        return partition + " from " + from.getAsLong() + " to " + to + ": "
                + Words.count(Math.abs(difference), "offset")
                + (difference < 0 ? " again" : " left out");
    }

    /** Returns the source offsets after the last records of the copies, as far as they are found. */
    private Map<TopicPartition, Long> endsOfCopies(Set<TopicPartition> partitions) {
        Map<TopicPartition, Long> found = new HashMap<>();
        try (RecordComparison comparison = RecordComparison.open(config, "read_committed")) {
            Set<TopicPartition> uncopied = Clusters.existing(source, partitions);
            Set<TopicPartition> copied = copies.existing(uncopied);
            uncopied.removeAll(copied);
            found.putAll(Clusters.offsetsOfLed(source, uncopied, OffsetSpec.earliest()));
            partitions.stream()
                    .filter(copied::contains)
                    .limit(COMPARED)
                    .forEach(partition -> comparison.endOfCopy(partition).ifPresent(end -> found.put(partition, end)));
        } catch (InterruptException e) {
            throw e; // the mirror is told to stop
        } catch (KafkaException e) {
            LOG.debug("The ends of the copies of {} are not all known", partitions, e);
        }
        return found;
    }
}
