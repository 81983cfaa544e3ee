package dev.millrace.mirror.run;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.oracle.Comparison;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Mirrors between clusters with everything at Kafka's defaults: controllers of their own, groups that wait 3 s for
 * members and miss a killed one after 45 s, and brokers that create the topics that they are asked for.
 */
@Tag("thorough")
@Tag("long")
class KafkaDefaultsIT {
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final int PARTITIONS = 3;
    private static final int STEP = 20_000;

    @AutoClose
    private static final MirrorFixture clusters = MirrorFixture.ofKafkaDefaults();

    private final long seed = Long.getLong("millrace.seed", System.nanoTime());

    private enum Way {
        CONSUMER("--mode=consumer"),
        RECORDS("--mode=records"),
        BATCHES("--mode=batches"),
        EXACTLY_ONCE("--resume=exactly-once");

        private final String option;

        Way(String option) {
            this.option = option;
        }

        String topic() {
            return "by-default-" + this;
        }

        MirrorProcess start() {
            return clusters.mirror(topic(), 2, ProducerKind.MILLRACE, option);
        }

        /** Where the mirror keeps its progress. */
        KafkaCluster clusterOfGroup() {
            return this == EXACTLY_ONCE ? clusters.target() : clusters.source();
        }

        long committed() {
            return this == EXACTLY_ONCE ? clusters.committedOnTarget(topic()) : clusters.committed(topic());
        }

        Comparison compare() {
            return this == EXACTLY_ONCE ? clusters.compareForCommittedReader(topic()) : clusters.compare(topic());
        }
    }

    @Test
    void shouldCopyEveryRecordWhenABrokerOfTheTargetAndMirrorsAreKilled() throws Exception {
        // given
        System.out.println("KafkaDefaultsIT seed " + seed);
        List<MirrorProcess> mirrors = new ArrayList<>();
        for (Way way : Way.values()) {
            clusters.source().createTopic(way.topic(), PARTITIONS, 1, Map.of());
            fill(way, 0);
            mirrors.add(way.start());
        }
        awaitCommitted(STEP, mirrors);

        // when a broker dies, and comes back
        int victim = clusters.target().leader(Way.BATCHES.topic(), 0);
        clusters.target().kill(victim);
        fillAll(1);
        clusters.target().restart(victim);
        awaitCommitted(2 * STEP, mirrors);

        // and when mirrors die while they copy, and the next ones start before the groups miss them
        Set<String> killed = members();
        fillAll(2);
        for (MirrorProcess mirror : mirrors) {
            mirror.kill().awaitExit(STOP);
        }
        mirrors.clear();
        for (Way way : Way.values()) {
            mirrors.add(way.start());
        }
        await("the groups miss their killed members", () -> Collections.disjoint(killed, members()));
        awaitCommitted(3 * STEP, mirrors);

        // then
        for (MirrorProcess mirror : mirrors) {
            assertThat(mirror.terminate().awaitExit(STOP)).as(mirror.output()).isZero();
        }
        for (Way way : Way.values()) {
            Comparison comparison = way.compare();
            System.out.println("KafkaDefaultsIT: " + way + ": " + comparison);
            assertThat(comparison)
                    .as("%s, seed %d", way, seed)
                    .matches(way == Way.CONSUMER ? Comparison::isCompleteWithDuplicates : Comparison::isExact);
        }
    }

    private void fillAll(int step) {
        for (Way way : Way.values()) {
            fill(way, step);
        }
    }

    private void fill(Way way, int step) {
        clusters.fill(way.topic(), PARTITIONS, STEP, seed + step);
    }

    private static void awaitCommitted(long records, List<MirrorProcess> mirrors) {
        for (Way way : Way.values()) {
            await(records + " of " + way, () -> way.committed() == records, mirrors.toArray(MirrorProcess[]::new));
        }
    }

    /** The ids of the members of all groups. */
    private static Set<String> members() {
        Set<String> members = new HashSet<>();
        for (Way way : Way.values()) {
            MirrorFixture.get(way.clusterOfGroup()
                            .admin()
                            .describeConsumerGroups(List.of(way.topic()))
                            .all())
                    .get(way.topic())
                    .members()
                    .forEach(member -> members.add(member.consumerId()));
        }
        return members;
    }
}
