package dev.millrace.mirror.cluster;

import static org.apache.kafka.common.acl.AclOperation.ALL;
import static org.apache.kafka.common.acl.AclOperation.ALTER;
import static org.apache.kafka.common.acl.AclOperation.DESCRIBE;
import static org.apache.kafka.common.acl.AclOperation.READ;
import static org.apache.kafka.common.acl.AclOperation.WRITE;
import static org.apache.kafka.common.acl.AclPermissionType.ALLOW;
import static org.apache.kafka.common.acl.AclPermissionType.DENY;
import static org.apache.kafka.common.resource.PatternType.LITERAL;
import static org.apache.kafka.common.resource.PatternType.PREFIXED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.TopicNames;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.Test;

class TopicReadersTest {
    @Test
    void shouldKeepWhoMayReadAndLeaveWritingToTheTarget() {
        assertThat(readers(
                        acl(LITERAL, "orders", ALLOW, READ, "ann"),
                        acl(LITERAL, "orders", ALLOW, WRITE, "bob"),
                        acl(LITERAL, "orders", DENY, WRITE, "*"),
                        acl(LITERAL, "orders", ALLOW, ALTER, "carl"),
                        acl(LITERAL, "orders", DENY, DESCRIBE, "dora")))
                .containsExactlyInAnyOrder("orders ALLOW READ User:ann h", "orders DENY DESCRIBE User:dora h");
    }

    @Test
    void shouldTakeAllForAllThatIsReading() {
        assertThat(readers(acl(LITERAL, "orders", ALLOW, ALL, "ann")))
                .containsExactlyInAnyOrder(
                        "orders ALLOW READ User:ann h",
                        "orders ALLOW DESCRIBE User:ann h",
                        "orders ALLOW DESCRIBE_CONFIGS User:ann h");
    }

    @Test
    void shouldNameEachMirroredTopicForWhichAnAclOfManyHolds() {
        assertThat(readers(
                        acl(PREFIXED, "pay", ALLOW, READ, "ann"),
                        acl(LITERAL, "*", DENY, READ, "bob"),
                        acl(PREFIXED, "x", ALLOW, READ, "carl"),
                        acl(LITERAL, "other", ALLOW, READ, "dora")))
                .containsExactlyInAnyOrder(
                        "paid ALLOW READ User:ann h", "paid DENY READ User:bob h", "orders DENY READ User:bob h");
    }

    @Test
    void shouldLeaveOutAclsThatAreNotForTopics() {
        AclBinding group = new AclBinding(
                new ResourcePattern(ResourceType.GROUP, "orders", LITERAL),
                new AccessControlEntry("User:ann", "h", READ, ALLOW));

        assertThat(readers(group)).isEmpty();
    }

    private static Set<String> readers(AclBinding... source) {
        return TopicReaders.of(
                        Set.of(source), Set.of("orders", "payments"), TopicNames.of("", Map.of("payments", "paid")))
                .stream()
                .peek(acl -> assertThat(acl.pattern().patternType()).isEqualTo(LITERAL))
                .map(acl -> Stream.of(
                                acl.pattern().name(),
                                acl.entry().permissionType(),
                                acl.entry().operation(),
                                acl.entry().principal(),
                                acl.entry().host())
                        .map(Object::toString)
                        .collect(Collectors.joining(" ")))
                .collect(Collectors.toSet());
    }

    private static AclBinding acl(
            PatternType kind, String name, AclPermissionType permission, AclOperation operation, String user) {
        return new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, name, kind),
                new AccessControlEntry("User:" + user, "h", operation, permission));
    }
}
