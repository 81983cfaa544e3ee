package dev.millrace.mirror.groups;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.progress.CopiedOffsets;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Two processes of a mirror, one of which takes over a partition from the other. The test says when what is due. */
class OffsetMapIT {
    private static final long POSITION = 100;

    @AutoClose
    private static final KafkaCluster target = KafkaCluster.builder().start();

    private final MirrorConfig config = new MirrorConfig(
            Pattern.compile(".*"),
            TopicNames.KEPT,
            1,
            CopyMode.AUTO,
            ProducerKind.MILLRACE,
            Map.of(),
            producer(),
            MirrorPolicies.DEFAULT);

    private final long startNanos = System.nanoTime();
    private final AtomicBoolean isStopping = new AtomicBoolean();
    private final List<OffsetMapTopic> topics = new ArrayList<>();

    @AfterEach
    void close() {
        topics.forEach(OffsetMapTopic::close);
    }

    @Test
    void shouldKnowWhatAFormerOwnerWritesLate(TestInfo test) {
        TopicPartition partition = newPartition(test);
        OffsetMap former = mapOf(partition);
        CopiedOffsets member = former.ofMember();
        copy(member, partition, 0, 1_000);
        OffsetMap next = mapOf(partition);
        copy(next.ofMember(), partition, POSITION, 2_000);
        next.keep(after(10));
        assertThat(shown(next, partition)).as("the former has written nothing").isEqualTo("100=2000 200>=2100");

        member.giveUp(Set.of(partition));
        former.keep(after(11));
        next.keep(after(15));

        assertThat(shown(next, partition)).isEqualTo("0=1000 100=2000 200>=2100");
        assertThat(shownAtOnce(partition)).as("what is kept").isEqualTo("0=1000 100=2000 200>=2100");
    }

    @Test
    void shouldKnowWhatItHasCopiedItselfWhenItGetsThePartitionBackAtOnce(TestInfo test) {
        TopicPartition partition = newPartition(test);
        OffsetMap map = mapOf(partition);
        CopiedOffsets member = map.ofMember();
        copy(member, partition, 0, 1_000);
        member.giveUp(Set.of(partition));

        copy(member, partition, POSITION, 2_000);
        map.keep(after(3));
        map.keep(after(8));

        assertThat(shown(map, partition)).isEqualTo("0=1000 100=2000 200>=2100");
    }

    @Test
    void shouldKeepAllThatWasCopiedWhenAPartitionIsGivenUpTwiceBeforeItIsWritten(TestInfo test) {
        TopicPartition partition = newPartition(test);
        OffsetMap map = mapOf(partition);
        CopiedOffsets member = map.ofMember();
        copy(member, partition, 0, 1_000);
        member.giveUp(Set.of(partition));
        copy(member, partition, POSITION, 2_000);
        member.giveUp(Set.of(partition));

        map.keep(after(3));

        assertThat(shownAtOnce(partition)).isEqualTo("0=1000 100=2000 200>=2100");
    }

    /** Otherwise the last offsets of groups would be missing if no other process takes over. */
    @Test
    void shouldRememberWhatIsGivenUpWhenTheMirrorStops(TestInfo test) {
        TopicPartition partition = newPartition(test);
        OffsetMap map = mapOf(partition);
        CopiedOffsets member = map.ofMember();
        copy(member, partition, 0, 1_000);

        isStopping.set(true);
        member.giveUp(Set.of(partition));
        map.keep(after(3));

        assertThat(map.loaded()).containsExactly(partition);
        assertThat(shownAtOnce(partition)).as("what is kept").isEqualTo("0=1000 100>=1100");
    }

    @Test
    void shouldForgetWhatIsGivenUpToAnotherProcess(TestInfo test) {
        TopicPartition partition = newPartition(test);
        OffsetMap map = mapOf(partition);
        CopiedOffsets member = map.ofMember();
        copy(member, partition, 0, 1_000);

        member.giveUp(Set.of(partition));
        map.keep(after(3));

        assertThat(map.loaded()).isEmpty();
    }

    @Test
    void shouldKeepWhatAMemberCopiesWhenAnotherGivesUpLate(TestInfo test) {
        TopicPartition partition = newPartition(test);
        OffsetMap map = mapOf(partition);
        CopiedOffsets away = map.ofMember();
        copy(away, partition, 0, 1_000);
        CopiedOffsets next = away.ofAnotherMember();
        AckedRuns session = next.begin(partition, Uuid.ONE_UUID, POSITION);

        away.suspend(partition);
        away.giveUp(Set.of(partition));
        session.onAcknowledged(POSITION, 2_000, (int) POSITION);
        next.onCommitted(Map.of(partition, new OffsetAndMetadata(2 * POSITION)));
        map.keep(after(10));

        assertThat(shown(map, partition)).isEqualTo("0=1000 100=2000 200>=2100");
        assertThat(shownAtOnce(partition)).as("what is kept").isEqualTo("0=1000 100=2000 200>=2100");
    }

    @Test
    void shouldNotWaitForAFormerOwnerForEver(TestInfo test) {
        TopicPartition partition = newPartition(test);
        OffsetMap next = mapOf(partition);
        copy(next.ofMember(), partition, POSITION, 2_000);

        next.keep(after(10));
        assertThat(shownAtOnce(partition)).isEmpty();
        next.keep(after(35));

        assertThat(shownAtOnce(partition)).isEqualTo("100=2000 200>=2100");
    }

    @Test
    void shouldWriteWhatItKnowsWhenItEndsBeforeAFormerOwnerHasWritten(TestInfo test) {
        TopicPartition partition = newPartition(test);
        OffsetMap next = mapOf(partition);
        copy(next.ofMember(), partition, POSITION, 2_000);
        next.keep(after(10));

        next.loadLast();
        next.write();

        assertThat(shownAtOnce(partition)).isEqualTo("100=2000 200>=2100");
    }

    private static Map<String, Object> producer() {
        Map<String, Object> config = new HashMap<>(target.clientConfig());
        config.put("key.serializer", ByteArraySerializer.class);
        config.put("value.serializer", ByteArraySerializer.class);
        return config;
    }

    private static TopicPartition newPartition(TestInfo test) {
        String topic = test.getTestMethod().orElseThrow().getName();
        target.createTopic(topic, 1, 1, Map.of());
        return new TopicPartition(topic, 0);
    }

    /** The map of another process of the mirror. */
    private OffsetMap mapOf(TopicPartition partition) {
        return new OffsetMap(
                topicOf(partition),
                target.admin(),
                new CopiesOnTarget(target.admin(), config.names()),
                isStopping::get);
    }

    private OffsetMapTopic topicOf(TopicPartition partition) {
        OffsetMapTopic topic = new OffsetMapTopic(partition.topic(), target.admin(), config);
        topics.add(topic);
        return topic;
    }

    /** Copies as many records as are before {@link #POSITION}. */
    private static void copy(CopiedOffsets member, TopicPartition partition, long source, long target) {
        member.begin(partition, Uuid.ONE_UUID, source).onAcknowledged(source, target, (int) POSITION);
        member.onCommitted(Map.of(partition, new OffsetAndMetadata(source + POSITION)));
    }

    private long after(int seconds) {
        return startNanos + Duration.ofSeconds(seconds).toNanos();
    }

    private static String shown(OffsetMap map, TopicPartition partition) {
        return map.runs(Set.of(partition)).get(partition).toString();
    }

    /** What a process would know that owns the partition next. */
    private String shownAtOnce(TopicPartition partition) {
        OffsetMapTopic.Kept kept = topicOf(partition).read(partition::equals).get(partition);
        return kept == null ? "" : kept.runs(Uuid.ONE_UUID, Uuid.ZERO_UUID).toString();
    }
}
