package dev.millrace.weather;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** The ACLs that the mirror of a climate needs by the table of {@code docs/mirror.md}, and no more. */
final class MirrorRights {
    private static final String CLUSTER = "kafka-cluster";

    private final MirrorKind mirror;
    private final List<AclBinding> rights = new ArrayList<>();

    private MirrorRights(MirrorKind mirror) {
        this.mirror = mirror;
    }

    static List<AclBinding> onSource(Climate climate) {
        MirrorRights source = new MirrorRights(climate.mirror());
        climate.topicNames().forEach(source::toRead);
        source.allow(ResourceType.CLUSTER, CLUSTER, AclOperation.DESCRIBE);
        source.allow(
                ResourceType.GROUP,
                MirrorFleet.GROUP,
                climate.mirror().isExactlyOnce() ? AclOperation.DESCRIBE : AclOperation.READ);
        source.allow(ResourceType.GROUP, "*", AclOperation.DESCRIBE);
        return source.rights;
    }

    static List<AclBinding> onTarget(Climate climate) {
        MirrorRights target = new MirrorRights(climate.mirror());
        climate.topicNames().stream().map(climate::copyOf).forEach(target::toWrite);
        target.allow(ResourceType.GROUP, "*", AclOperation.DESCRIBE);
        if (climate.mirror().isExactlyOnce()) {
            target.allow(ResourceType.GROUP, MirrorFleet.GROUP, AclOperation.READ);
            target.allow(ResourceType.TRANSACTIONAL_ID, MirrorFleet.GROUP, PatternType.PREFIXED, AclOperation.WRITE);
        }
        if (climate.mirror().hasGroups()) {
            String map = "millrace-offsets." + MirrorFleet.GROUP + ".internal";
            target.allow(ResourceType.GROUP, ReaderGroup.NAME, AclOperation.READ);
            target.allow(ResourceType.TOPIC, map, AclOperation.CREATE, AclOperation.READ, AclOperation.WRITE);
        }
        return target.rights;
    }

    private void toRead(String topic) {
        allow(ResourceType.TOPIC, topic, AclOperation.READ, AclOperation.DESCRIBE_CONFIGS);
    }

    private void toWrite(String copy) {
        allow(
                ResourceType.TOPIC,
                copy,
                AclOperation.WRITE,
                AclOperation.CREATE,
                AclOperation.ALTER,
                AclOperation.DESCRIBE_CONFIGS);
        if (mirror.keepsDeadLetters()) {
            allow(ResourceType.TOPIC, TopicKind.deadLetters(copy), AclOperation.WRITE, AclOperation.CREATE);
        }
        if (mirror.hasSettings()) {
            allow(ResourceType.TOPIC, copy, AclOperation.ALTER_CONFIGS);
        }
        if (!mirror.isAtLeastOnce() || mirror.hasGroups()) {
            allow(ResourceType.TOPIC, copy, AclOperation.READ);
        }
    }

    private void allow(ResourceType type, String name, AclOperation... operations) {
        allow(type, name, PatternType.LITERAL, operations);
    }

    private void allow(ResourceType type, String name, PatternType pattern, AclOperation... operations) {
        for (AclOperation operation : operations) {
            rights.add(new AclBinding(
                    new ResourcePattern(type, name, pattern),
                    new AccessControlEntry("User:" + Side.USER, "*", operation, AclPermissionType.ALLOW)));
        }
    }
}
