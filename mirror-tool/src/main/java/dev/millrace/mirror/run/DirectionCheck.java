package dev.millrace.mirror.run;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for signs that source and target were swapped by mistake: a mirror in the other direction has been here, or the
 * target has records that the source lacks. Both are expected when the direction was reversed on purpose.
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

    /** Returns what the groups reveal of a mirror from the target to the source, in sentences. */
    List<String> ofGroups(String sourceId, String targetId) {
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
                        if (position != null && isOurs.test(partition.topic())) {
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
