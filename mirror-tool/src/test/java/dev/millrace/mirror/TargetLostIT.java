package dev.millrace.mirror;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The target has lost what a mirror had copied: all of it, or a topic. */
@Timeout(180)
class TargetLostIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int OLD = 300;
    private static final int ALL = 400;

    private static MirrorFixture clusters;

    @BeforeAll
    static void startClusters() {
        clusters = new MirrorFixture();
    }

    @AfterAll
    static void stopClusters() {
        clusters.close();
    }

    /** Ways to copy and to keep progress. */
    private enum Way {
        CONSUMER("--mode=consumer"),
        RECORDS("--mode=records"),
        AUTO("--mode=auto"),
        AT_LEAST_ONCE("--mode=auto --resume=at-least-once"),
        EXACTLY_ONCE("--mode=auto --resume=exactly-once");

        private final String options;

        Way(String options) {
            this.options = options;
        }

        OffsetAndMetadata committed(TopicPartition partition) {
            return (this == EXACTLY_ONCE
                            ? clusters.positionsOnTarget(partition.topic())
                            : clusters.positions(partition.topic()))
                    .get(partition);
        }

        boolean hasCommitted(TopicPartition partition, long offset) {
            OffsetAndMetadata committed = committed(partition);
            return committed != null && committed.offset() == offset;
        }
    }

    @ParameterizedTest
    @EnumSource(names = "AUTO")
    void shouldCopyAgainWhatATargetHasLostThatWasFormattedWhileTheMirrorWasStopped(Way way) throws Exception {
        TopicPartition partition = createAndCopy("formatted-" + way, way);

        format();
        Numbered.write(clusters.source(), partition, Numbered.values("r", OLD, ALL));
        String output = mirrorUntil(way, partition, ALL);

        assertThat(Numbered.read(clusters.target(), partition)).as(output).isEqualTo(Numbered.values("r", 0, ALL));
    }

    @ParameterizedTest
    @EnumSource(names = "AUTO")
    void shouldCopyAgainATopicThatWasDeletedFromTheTargetWhileItRuns(Way way) throws Exception {
        TopicPartition partition = create("running-" + way);
        String output;
        try (MirrorProcess mirror = mirror(way, partition)) {
            await("the first are committed", () -> way.hasCommitted(partition, OLD), mirror);
            delete(partition);
            Numbered.write(clusters.source(), partition, Numbered.values("r", OLD, ALL));
            await("all is there", () -> clusters.mirrored(partition.topic()) >= ALL, mirror);
            await("all is committed", () -> way.hasCommitted(partition, ALL), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            output = mirror.output();
        }
        assertThat(Numbered.read(clusters.target(), partition)).as(output).isEqualTo(Numbered.values("r", 0, ALL));
    }

    private static TopicPartition create(String topic) {
        clusters.source().createTopic(topic, 1, 1, Map.of());
        TopicPartition partition = new TopicPartition(topic, 0);
        Numbered.write(clusters.source(), partition, Numbered.values("r", 0, OLD));
        return partition;
    }

    private static TopicPartition createAndCopy(String topic, Way way) throws Exception {
        TopicPartition partition = create(topic);
        mirrorUntil(way, partition, OLD);
        return partition;
    }

    /** As an operator who sets the cluster up anew and keeps its id. */
    private static void format() {
        clusters.target().stop(1);
        clusters.target().removeData(1);
        clusters.target().restart(1);
    }

    private static void delete(TopicPartition partition) {
        get(clusters.target().admin().deleteTopics(List.of(partition.topic())).all());
    }

    private static MirrorProcess mirror(Way way, TopicPartition partition, String... more) {
        List<String> args = new ArrayList<>(List.of(way.options.split(" ")));
        args.addAll(List.of(more));
        return clusters.mirror(partition.topic(), 1, ProducerKind.MILLRACE, args.toArray(String[]::new));
    }

    /** Returns what the mirror printed. */
    private static String mirrorUntil(Way way, TopicPartition partition, long offset, String... more)
            throws Exception {
        try (MirrorProcess mirror = mirror(way, partition, more)) {
            await("it is committed", () -> way.hasCommitted(partition, offset), mirror);
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
            return mirror.output();
        }
    }
}
