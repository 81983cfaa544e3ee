package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.TopicAcls;
import dev.millrace.mirror.cutover.CutoverState.Denial;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/**
 * Keeps writers out of topics by ACLs: each principal that an ACL allows to write is denied it by another one. What is
 * denied is remembered before, so that exactly that can be taken back. Super users may still write.
 *
 * <p><b>Threads:</b> one. All methods block while the clusters answer.
 *
 * @param cluster with the topics
 */
record Fence(Admin cluster, CutoverState state) {
    private static final String ANY_HOST = "*";
    private static final String EVERYBODY = "User:*";
    private static final Set<AclOperation> WRITING = Set.of(AclOperation.WRITE, AclOperation.ALL);

    /**
     * Denies writing to the topics.
     *
     * @param except principals that may still write
     * @return who is denied what, by this call and earlier ones: {@code User:a: Write to topic b}
     * @throws MirrorException if the cluster has no ACLs for a topic, or does not take one
     */
    List<String> raise(Collection<String> topics, Set<String> except) {
        Collection<AclBinding> there = TopicAcls.ask(cluster, "source");
        Set<Denial> wanted = wanted(there, topics, except);
        // What is denied already is remembered from an earlier call, or somebody else's, which must stay.
        Set<AclBinding> known = Set.copyOf(there);
        wanted.removeIf(denial -> known.contains(binding(denial)));
        remove(state.denials().stream()
                .filter(denial -> except.contains(denial.principal()))
                .toList());
        state.addDenials(wanted);
        create(wanted.stream().map(Fence::binding).toList());
        return describe();
    }

    private static Set<Denial> wanted(Collection<AclBinding> there, Collection<String> topics, Set<String> except) {
        Set<Denial> wanted = new HashSet<>();
        for (String topic : new TreeSet<>(topics)) {
            List<AclBinding> ofTopic = there.stream()
                    .filter(acl -> TopicAcls.isFor(acl.pattern(), topic))
                    .toList();
            if (ofTopic.isEmpty()) {
                throw MirrorException.failed("--fence acls: no ACL of the source is for topic " + topic
                        + ", so its first one could take away reading, too. Give the principals that use the topic ACLs"
                        + " of their own, or stop the writers yourself with --fence none");
            }
            ofTopic.stream()
                    .map(AclBinding::entry)
                    .filter(entry -> entry.permissionType() == AclPermissionType.ALLOW
                            && WRITING.contains(entry.operation())
                            && !except.contains(entry.principal()))
                    .forEach(entry -> {
                        requireNotEverybody(entry, topic, except);
                        wanted.add(new Denial(topic, entry.principal()));
                    });
        }
        return wanted;
    }

    private static void requireNotEverybody(AccessControlEntry entry, String topic, Set<String> except) {
        if (entry.principal().equals(EVERYBODY) && !except.isEmpty()) {
            throw MirrorException.failed("--fence-except: an ACL allows everybody to write to topic " + topic
                    + ", and to deny that would deny it to " + String.join(", ", new TreeSet<>(except))
                    + ", too. Replace it by ACLs for those that write");
        }
    }

    /** Takes back what was denied; returns it as {@link #raise} does. */
    List<String> lower() {
        List<String> lines = describe();
        remove(state.denials());
        return lines;
    }

    private void remove(Collection<Denial> denials) {
        for (List<Denial> batch : Clusters.batches(denials)) {
            Clusters.awaitUnchecked(cluster.deleteAcls(batch.stream()
                            .map(denial -> binding(denial).toFilter())
                            .toList())
                    .all());
            state.removeDenials(batch);
        }
    }

    /** Returns who is denied what. */
    List<String> describe() {
        Set<String> principals = new TreeSet<>();
        state.denials().forEach(denial -> principals.add(denial.principal()));
        List<String> lines = new ArrayList<>();
        principals.forEach(principal -> lines.add(principal + ": Write to "
                + Words.list(
                        state.denials().stream()
                                .filter(denial -> denial.principal().equals(principal))
                                .map(Denial::topic)
                                .sorted()
                                .toList(),
                        "topic")));
        return lines;
    }

    private void create(List<AclBinding> acls) {
        for (List<AclBinding> batch : Clusters.batches(acls)) {
            Clusters.awaitUnchecked(cluster.createAcls(batch).all());
        }
    }

    private static AclBinding binding(Denial denial) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, denial.topic(), PatternType.LITERAL),
                new AccessControlEntry(denial.principal(), ANY_HOST, AclOperation.WRITE, AclPermissionType.DENY));
    }
}
