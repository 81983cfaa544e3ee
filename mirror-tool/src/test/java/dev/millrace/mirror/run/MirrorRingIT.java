package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static dev.millrace.mirror.support.MirrorFixture.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.Numbered;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three mirrors with prefixes copy from a cluster to the next, and from the last to the first. */
@Tag("thorough")
class MirrorRingIT {
    private static final Duration STOP = Duration.ofSeconds(40);

    @Test
    void shouldLeaveOutWhatHasComeRoundBeforeItGoesRoundOnceMore() throws Exception {
        try (KafkaCluster a = KafkaCluster.builder().start();
                KafkaCluster b = KafkaCluster.builder().start();
                KafkaCluster c = KafkaCluster.builder().start()) {
            a.createTopic("orders", 1, 1, Map.of());
            Numbered.write(a, new TopicPartition("orders", 0), Numbered.values("r", 0, 10));
            List<MirrorProcess> mirrors = new ArrayList<>();
            try {
                MirrorProcess first = mirror(a, b, "a.");
                mirrors.add(first);
                mirrors.add(mirror(b, c, "b.", "--resume=exactly-once"));
                mirrors.add(mirror(c, a, "c.", "--mode=consumer"));
                await(
                        "the first mirror says it",
                        () -> first.hasPrinted("Topic c.b.a.orders looks like this mirror's own copy a.orders of topic"
                                + " orders, brought back to the source by other mirrors"),
                        mirrors.toArray(MirrorProcess[]::new));
                Numbered.write(a, new TopicPartition("orders", 0), Numbered.values("r", 10, 20));
                TopicPartition round = new TopicPartition("c.b.a.orders", 0);
                await(
                        "all has come round",
                        () -> Numbered.read(a, round).size() == 20,
                        mirrors.toArray(MirrorProcess[]::new));
                for (MirrorProcess mirror : mirrors) {
                    assertThat(mirror.terminate().awaitExit(STOP))
                            .as(mirror.output())
                            .isZero();
                }
            } finally {
                mirrors.forEach(MirrorProcess::close);
            }

            assertThat(topics(a)).containsExactlyInAnyOrder("orders", "c.b.a.orders");
            assertThat(topics(b)).containsExactly("a.orders");
            assertThat(topics(c)).containsExactly("b.a.orders");
            assertThat(Numbered.read(a, new TopicPartition("c.b.a.orders", 0))).isEqualTo(Numbered.values("r", 0, 20));
        }
    }

    private static Set<String> topics(KafkaCluster cluster) {
        return get(cluster.admin().listTopics().names());
    }

    private static MirrorProcess mirror(KafkaCluster source, KafkaCluster target, String prefix, String... more) {
        List<String> args = new ArrayList<>(List.of(
                "run",
                "--source=" + source.bootstrapServers(),
                "--target=" + target.bootstrapServers(),
                "--topics=.*",
                "--topic-prefix=" + prefix,
                "--source-setting=metadata.max.age.ms=1000"));
        args.addAll(List.of(more));
        return MirrorProcess.start(args.toArray(String[]::new));
    }
}
