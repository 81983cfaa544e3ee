package dev.millrace.mirror.cluster;

import dev.millrace.mirror.text.MirrorException;
import java.util.Collection;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.SecurityDisabledException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;

/** The ACLs of a cluster that are for topics. */
public final class TopicAcls {
    private static final String EVERY_TOPIC = "*";

    private TopicAcls() {}

    /**
     * Returns them. Blocks until the cluster has answered.
     *
     * @param role "source" or "target", for messages
     * @throws MirrorException if the cluster has no authorizer
     */
    public static Collection<AclBinding> ask(Admin cluster, String role) {
        try {
            return Clusters.awaitUnchecked(cluster.describeAcls(new AclBindingFilter(
                            new ResourcePatternFilter(ResourceType.TOPIC, null, PatternType.ANY),
                            AccessControlEntryFilter.ANY))
                    .values());
        } catch (SecurityDisabledException e) {
            throw MirrorException.failed("the " + role + " cluster has no authorizer, and so no ACLs", e);
        }
    }

    /** Whether an ACL with this pattern applies to the topic. */
    public static boolean isFor(ResourcePattern pattern, String topic) {
        if (pattern.resourceType() != ResourceType.TOPIC) {
            return false;
        }
        return pattern.patternType() == PatternType.PREFIXED
                ? topic.startsWith(pattern.name())
                : pattern.name().equals(topic) || pattern.name().equals(EVERY_TOPIC);
    }
}
