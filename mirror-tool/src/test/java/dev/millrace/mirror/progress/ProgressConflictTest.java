package dev.millrace.mirror.progress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.mirror.text.MirrorException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProgressConflictTest {
    private static final String MARK = MirrorGroup.mark("target-1");

    @ParameterizedTest
    @EnumSource(
            value = GroupState.class,
            names = {"EMPTY", "DEAD"})
    void shouldStartExactlyOnceWhenNobodyIsInTheGroupOnTheSource(GroupState state) {
        ProgressConflict.requireNoMembers("g", inState(state));
    }

    @ParameterizedTest
    @EnumSource(
            value = GroupState.class,
            names = {"STABLE", "PREPARING_REBALANCE", "COMPLETING_REBALANCE", "ASSIGNING", "RECONCILING", "UNKNOWN"})
    void shouldWaitWhileTheGroupOnTheSourceHasMembers(GroupState state) {
        MirrorException thrown = catchThrowableOfType(
                MirrorException.class, () -> ProgressConflict.requireNoMembers("g", inState(state)));

        assertThat(thrown).hasMessageStartingWith("Group g on the source has members");
        assertThat(thrown.isTemporary()).isTrue();
    }

    @Test
    void shouldWaitForASourceThatDoesNotTellWhoIsInTheGroup() {
        MirrorException thrown = catchThrowableOfType(
                MirrorException.class,
                () -> ProgressConflict.requireNoMembers("g", failed(new TimeoutException("no coordinator"))));

        assertThat(thrown).hasMessageContaining("who is in group g").hasMessageContaining("no coordinator");
        assertThat(thrown.isTemporary()).isTrue();
    }

    @Test
    void shouldStartExactlyOnceWhenTheSourceHasNoSuchGroupOrDoesNotShowIt() {
        ProgressConflict.requireNoMembers("g", failed(new GroupIdNotFoundException("g")));
        ProgressConflict.requireNoMembers("g", failed(new GroupAuthorizationException("g")));
    }

    @Test
    void shouldNotStartBesideTheProgressOfAMirrorWithExactlyOnce() {
        assertThatThrownBy(() -> ProgressConflict.requireNoProgress("g", committedWith(MARK), MARK))
                .isInstanceOfSatisfying(
                        MirrorException.class, e -> assertThat(e.isTemporary()).isFalse())
                .hasMessageStartingWith(
                        "Group g on the target has the progress of a mirror with --resume exactly-once");
    }

    @Test
    void shouldStartBesideTheOffsetsOfOthers() {
        ProgressConflict.requireNoProgress("g", committedWith(MirrorGroup.mark("target-2")), MARK);
        ProgressConflict.requireNoProgress("g", committedWith(""), MARK);
        ProgressConflict.requireNoProgress("g", KafkaFuture.completedFuture(Map.of()), MARK);
    }

    @Test
    void shouldStartWhenTheTargetDoesNotTellOfGroups() {
        ProgressConflict.requireNoProgress("g", failed(new TimeoutException("no coordinator")), MARK);
        ProgressConflict.requireNoProgress("g", failed(new GroupAuthorizationException("g")), MARK);
    }

    private static KafkaFuture<ConsumerGroupDescription> inState(GroupState state) {
        return KafkaFuture.completedFuture(new ConsumerGroupDescription(
                "g",
                false,
                List.of(),
                "",
                GroupType.CLASSIC,
                state,
                Node.noNode(),
                Set.of(),
                Optional.empty(),
                Optional.empty()));
    }

    /** Of one partition; another one of the group has none. */
    private static KafkaFuture<Map<TopicPartition, OffsetAndMetadata>> committedWith(String mark) {
        Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
        committed.put(new TopicPartition("orders", 0), null);
        committed.put(
                new TopicPartition("orders", 1),
                new CommitMetadata(mark, Uuid.ZERO_UUID, Optional.empty()).addToOnTarget(new OffsetAndMetadata(7)));
        return KafkaFuture.completedFuture(committed);
    }

    private static <T> KafkaFuture<T> failed(RuntimeException cause) {
        return KafkaFuture.completedFuture(0).thenApply(unused -> {
            throw cause;
        });
    }
}
