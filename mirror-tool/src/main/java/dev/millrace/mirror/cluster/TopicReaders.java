package dev.millrace.mirror.cluster;

import dev.millrace.mirror.config.TopicNames;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/**
 * Finds the ACLs with which the same principals may read mirrored topics on the target as on the source. It leaves
 * write ACLs to the target: there only the mirror writes to these topics, until their producers move.
 */
public final class TopicReaders {
    private static final Set<AclOperation> READING =
            Set.of(AclOperation.READ, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS);

    private TopicReaders() {}

    /**
     * Returns ACLs for exactly these topics. A source ACL for a name prefix or for every topic would also apply to
     * other topics of the target.
     *
     * @param topics of the source; the ACLs are for their names on the target
     */
    public static Set<AclBinding> of(Collection<AclBinding> source, Collection<String> topics, TopicNames names) {
        Set<AclBinding> readers = new HashSet<>();
        for (AclBinding acl : source) {
            for (String topic : topics) {
                if (TopicAcls.isFor(acl.pattern(), topic)) {
                    addReading(acl.entry(), names.onTarget(topic), readers);
                }
            }
        }
        return readers;
    }

    private static void addReading(AccessControlEntry entry, String topic, Set<AclBinding> readers) {
        if (entry.operation() == AclOperation.ALL) {
            READING.forEach(operation -> readers.add(binding(entry, operation, topic)));
        } else if (READING.contains(entry.operation())) {
            readers.add(binding(entry, entry.operation(), topic));
        }
    }

    private static AclBinding binding(AccessControlEntry entry, AclOperation operation, String topic) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
                new AccessControlEntry(entry.principal(), entry.host(), operation, entry.permissionType()));
    }
}
