package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.progress.CommitMetadata;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.progress.MirrorPositions;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.CutoverTopic;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for signs that source and target were swapped by mistake: a mirror in the other direction has been here, or the
 * target has records that the source lacks. Both are expected on the way back, which needs a cutover before it.
 *
 * <p><b>Threads:</b> any; immutable.
 */
final class DirectionCheck {
    private static final Logger LOG = LoggerFactory.getLogger(DirectionCheck.class);

    private final Admin source;
    private final Admin target;
    private final MirrorConfig config;

    DirectionCheck(Admin source, Admin target, MirrorConfig config) {
        this.source = source;
        this.target = target;
        this.config = config;
    }

    /**
     * Makes sure that a mirror back begins at the cut; otherwise it would copy back all that was copied.
     *
     * @param positions of the mirror back
     * @param topics that it copies
     * @throws MirrorException if no cutover has committed positions
     */
    static void requireCutover(MirrorConfig config, MirrorPositions positions, Set<String> topics) {
        if (config.policies().isWayBack() && !positions.hasAny(topics)) {
            throw MirrorException.failed("--back: group " + positions.group() + " on the "
                    + (positions.isGroupOnTarget() ? "target" : "source")
                    + " has no position, so the mirror back does not know where to begin. 'mirror cutover --keep-way-back'"
                    + " commits it. If it did, and nothing ran with --back for offsets.retention.minutes of that cluster"
                    + " (7 days by default), there is no way back any more");
        }
    }

    /**
     * Makes sure that no cutover has turned the direction, even if Kafka has forgotten the positions that say so.
     * Otherwise a mirror that is started again and again would one day copy the old cluster anew.
     *
     * @param positions of this mirror
     * @throws MirrorException if a cutover has turned the direction
     */
    static void requireNotTurned(BothClusters clusters, MirrorPositions positions) {
        if (!positions.committed().isEmpty()) {
            return; // they say it themselves
        }
        try {
            if (CutoverTopic.isTurned(clusters)) {
                throw MirrorException.failed("A cutover has turned the direction of this mirror, as topic "
                        + CutoverTopic.name(clusters) + " on the target says. " + clusters.describeGroup()
                        + " has no position any more, so the mirror would copy everything again. If that is what you"
                        + " want, choose another --group");
            }
        } catch (AuthorizationException e) {
            LOG.debug("Not allowed to look for a cutover that turned the direction", e);
        }
    }

    /** Returns what the groups reveal of a mirror from the target to the source, in sentences. */
    List<String> ofGroups(String sourceId, String targetId) {
        if (config.policies().isWayBack()) {
            return List.of();
        }
        Predicate<String> isRead = config.mirroredTopics().asMatchPredicate();
        Predicate<String> isWritten =
                name -> config.names().onSource(name).filter(isRead).isPresent();
        List<String> found = new ArrayList<>();
        addIfFound(target, "target", MirrorGroup.defaultName(sourceId), isWritten, found);
        addIfFound(source, "source", MirrorGroup.defaultNameOnTarget(targetId), isRead, found);
        return found;
    }

    private static void addIfFound(
            Admin cluster, String role, String group, Predicate<String> isOurs, List<String> found) {
        try {
            Set<String> copied = new TreeSet<>();
            Clusters.awaitUnchecked(cluster.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
                    .forEach((partition, position) -> {
                        boolean isEnded =
                                position != null && CommitMetadata.of(position).isEnded();
                        if (position != null && !isEnded && isOurs.test(partition.topic())) {
                            copied.add(partition.topic());
                        }
                    });
            if (!copied.isEmpty()) {
                found.add("A mirror from the target to the source has copied " + Words.list(copied, "topic")
                        + ", says group " + group + " on the " + role
                        + ". Are source and target the wrong way round?");
            }
        } catch (KafkaException e) {
            LOG.info("Cannot look for a mirror that ran in the opposite direction: {}", MirrorException.reason(e));
        }
    }

    /** Returns what the record counts reveal about a mirror that has no progress yet, in sentences. */
    static List<String> ofRecords(long here, long there) {
        return there > here
                ? List.of("The target has all of the topics, with " + Words.count(there, "record") + ", and the source "
                        + Words.number(here) + ". Are source and target the wrong way round?")
                : List.of();
    }
}
