package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.SyncPolicy;
import dev.millrace.mirror.config.SyncedPart;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;

/** Tells what {@link ClusterSync} would still change on the target. */
public record SyncCheck(SyncPolicy policy, Admin source, CopiesOnTarget copies) {
    /**
     * Returns what is to be changed, for an operator: {@code settings of topic orders}. Blocks while the clusters answer.
     *
     * @param topics of the source
     * @throws MirrorException if a cluster does not tell
     */
    public List<String> differences(Collection<String> topics) {
        return policy.parts().stream()
                .sorted()
                .flatMap(part -> difference(part, topics).stream())
                .toList();
    }

    private Optional<String> difference(SyncedPart part, Collection<String> topics) {
        MissingRights rights = new MissingRights(source, copies.target(), copies.names());
        return switch (part) {
            case SETTINGS -> named(changed(topics));
            case ACLS -> counted(rights.missingReaders(topics), "ACL");
            case QUOTAS -> counted(rights.missingQuotas(), "quota");
        };
    }

    private Set<String> changed(Collection<String> topics) {
        SettingsSync settings = new SettingsSync(policy.excludedSettings(), source, copies, (topic, problem) -> {
            throw MirrorException.failed(problem);
        });
        Set<String> changed = new TreeSet<>();
        Clusters.batches(topics)
                .forEach(batch -> changed.addAll(settings.changes(batch).keySet()));
        return changed;
    }

    private static Optional<String> named(Set<String> topics) {
        return topics.isEmpty() ? Optional.empty() : Optional.of("settings of " + Words.list(topics, "topic"));
    }

    private static Optional<String> counted(Collection<?> missing, String what) {
        return missing.isEmpty() ? Optional.empty() : Optional.of(Words.count(missing.size(), what));
    }
}
