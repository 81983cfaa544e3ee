package dev.millrace.mirror.progress;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import dev.millrace.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A source topic is deleted and created anew: the new one is another topic, and is mirrored from its beginning. */
@Tag("thorough")
class MirrorCreatedAgainIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int OLD = 300;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @TempDir
    private Path folder;

    /** A log that is longer than the old position is the worse case: that position is in it. */
    @ParameterizedTest
    @CsvSource({"BATCHES, 500", "CONSUMER, 200", "CONSUMER, 500"})
    void shouldMirrorTheNewTopicFromItsBeginningWhileItRuns(CopyMode mode, int records) throws Exception {
        String topic = "running-" + mode + "-" + records;
        TopicPartition partition = create(topic);
        List<String> old = Numbered.values("old", 0, OLD);
        List<String> recent = Numbered.values("new", 0, records);
        Numbered.write(clusters.source(), partition, old);

        // Otherwise a mirror that has seen the deletion sees the creation after half a minute only.
        Path quick = Files.writeString(folder.resolve("consumer.properties"), "metadata.max.age.ms=2000\n");

        try (MirrorProcess mirror = clusters.mirror(topic, 1, mode, "--consumer.config=" + quick)) {
            await("the old one is committed", () -> clusters.committed(topic) == OLD, mirror);
            replace(partition);
            Numbered.write(clusters.source(), partition, recent);
            await("the end of the new one is committed", () -> isCommitted(partition, records), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            // A Kafka consumer may notice the deletion, and give the partition up before it gets the new one.
            assertThat(mirror.output())
                    .containsPattern("Topic " + topic + " (was deleted and created anew|has gone from the source)");
        }

        List<String> copied = Numbered.read(clusters.target(), partition);
        assertThat(copied.subList(0, OLD)).isEqualTo(old);
        // A Kafka consumer may read some records at the old position before it is known that they are of another log.
        List<String> copiedOfNew =
                copied.subList(mode == CopyMode.CONSUMER ? copied.size() - records : OLD, copied.size());
        assertThat(copiedOfNew).isEqualTo(recent);
    }

    @ParameterizedTest
    @EnumSource(names = {"CONSUMER", "BATCHES"})
    void shouldMirrorTheNewTopicFromItsBeginningAfterAStop(CopyMode mode) throws Exception {
        String topic = "stopped-" + mode;
        TopicPartition partition = create(topic);
        List<String> all = new ArrayList<>(Numbered.values("old", 0, OLD));
        Numbered.write(clusters.source(), partition, all);
        try (MirrorProcess mirror = clusters.mirror(topic, 1, mode)) {
            await("the old one is committed", () -> clusters.committed(topic) == OLD, mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        Map<TopicPartition, OffsetAndMetadata> progress = clusters.positions(topic);

        replace(partition);
        List<String> recent = Numbered.values("new", 0, OLD + 200);
        Numbered.write(clusters.source(), partition, recent);
        // Brokers forget the offsets of a topic that they delete, but only if the group's coordinator learns of it.
        clusters.commit(topic, progress);
        try (MirrorProcess mirror = clusters.mirror(topic, 1, mode)) {
            await("the new one is committed", () -> isCommitted(partition, recent.size()), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            assertThat(mirror.output()).containsOnlyOnce("Topic " + topic + " was deleted and created anew");
        }

        all.addAll(recent);
        assertThat(Numbered.read(clusters.target(), partition)).isEqualTo(all);
    }

    private static TopicPartition create(String topic) {
        clusters.source().createTopic(topic, 1, 1, Map.of());
        return new TopicPartition(topic, 0);
    }

    private static void replace(TopicPartition partition) {
        MirrorFixture.get(clusters.source()
                .admin()
                .deleteTopics(List.of(partition.topic()))
                .all());
        Await.until(
                "it is deleted",
                PATIENCE,
                () -> !MirrorFixture.get(clusters.source().admin().listTopics().names())
                        .contains(partition.topic()));
        create(partition.topic());
    }

    /** Whether this offset of the topic that now has the name is committed. */
    private static boolean isCommitted(TopicPartition partition, long offset) {
        OffsetAndMetadata committed = clusters.positions(partition.topic()).get(partition);
        return committed != null
                && committed.offset() == offset
                && CommitMetadata.of(committed)
                        .topicId()
                        .equals(Clusters.topicIds(clusters.source().admin(), List.of(partition.topic()))
                                .get(partition.topic()));
    }
}
