package dev.millrace.mirror.cli;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code mirror plan} between two clusters that do not fit together. */
@Tag("thorough")
class PlanOfEverythingWrongIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Map<String, String> ANY_TIME =
            Map.of("message.timestamp.after.max.ms", Long.toString(Long.MAX_VALUE), "retention.ms", "-1");
    private static final String ALL = "w\\..*|back";
    private static final String LONG = "w." + "n".repeat(240);
    private static final int READABLE = 150;

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture(
            source -> source, target -> target.setting("log.message.timestamp.before.max.ms", "864000000"));

    @Test
    void shouldTellEachThingThatIsWrongInALineOfItsTopic() throws Exception {
        both("w.compacted", 1, Map.of("cleanup.policy", "compact"), 1, Map.of());
        both("w.fewer", 4, Map.of(), 2, Map.of());
        both("w.large", 1, Map.of("max.message.bytes", "5000000"), 1, Map.of("max.message.bytes", "2000"));
        both("w.more", 2, Map.of(), 5, Map.of());
        both("w.old", 1, ANY_TIME, 1, Map.of("message.timestamp.before.max.ms", "604800000"));
        both("w.stamped", 1, Map.of(), 1, Map.of("message.timestamp.type", "LogAppendTime"));
        both("w.there", 2, Map.of(), 2, Map.of());
        both("w.fits", 1, Map.of("max.message.bytes", "5000000"), 1, Map.of("max.message.bytes", "5000000"));
        clusters.source().createTopic("w.huge", 1, 1, Map.of("max.message.bytes", "50000000"));
        clusters.source().createTopic("w.new-old", 1, 1, ANY_TIME);
        clusters.source().createTopic("w.same", 1, 1, Map.of());
        clusters.target().createTopic("w_same", 1, 1, Map.of());
        clusters.source().createTopic(LONG, 1, 1, Map.of());
        both("back", 1, Map.of(), 1, Map.of());
        write(clusters.source().clientConfig(), "w.old", Duration.ofDays(30), Duration.ofDays(30), Duration.ofDays(1));
        write(clusters.source().clientConfig(), "w.old", Duration.ofDays(-400));
        write(clusters.source().clientConfig(), "w.new-old", Duration.ofDays(11), Duration.ZERO, Duration.ofDays(11));
        write(clusters.target().clientConfig(), "w.there", Duration.ZERO, Duration.ZERO);
        write(clusters.target().clientConfig(), "back", Duration.ZERO);

        try (MirrorProcess back = MirrorProcess.start(
                "run",
                "--source=" + clusters.target().bootstrapServers(),
                "--target=" + clusters.source().bootstrapServers(),
                "--topics=back",
                "--status=1")) {
            await("the other mirror has copied", () -> clusters.written("back") == 1, back);
            await("it has its partition", () -> back.hasPrinted("lag 0"), back);

            assertThat(plan(ALL, 1))
                    .containsPattern(
                            "The mirror would not start: .* belongs to a mirror back to the source, of .back.");
        }
        String plan = plan(ALL, 1);

        System.out.println(plan);
        assertThat(plan)
                .contains("Warning: A mirror from the target to the source has copied topic back, says group")
                .contains("on the target. Are source and target the wrong way round?")
                .contains("13 topics, at most 8 records to mirror; nothing was changed");
        assertThat(notes(plan, "back"))
                .startsWith("the target has 1 record before the mirror's first: it has no position there, and copies"
                        + " everything after them");
        assertThat(notes(plan, "w.compacted"))
                .startsWith("cleanup.policy is [compact] on the source and [delete] on the target");
        assertThat(plan).containsPattern("w.fewer +4 +0 +0 +grow from 2 to 4 partitions");
        assertThat(notes(plan, "w.fits")).as("nothing but its size").hasSize(1);
        assertThat(notes(plan, "w.huge"))
                .startsWith(
                        "with {max.message.bytes=50000000}",
                        "records larger than 16,777,216 bytes cannot be copied (the producer's buffer.memory); the"
                                + " source allows 50,000,000");
        assertThat(notes(plan, "w.large"))
                .startsWith("records larger than 2,000 bytes cannot be copied (max.message.bytes of the target); the"
                        + " source allows 5,000,000");
        assertThat(notes(plan, "w.more")).startsWith("the target has 5 partitions: nothing is copied to the last 3");
        assertThat(notes(plan, "w.new-old"))
                .contains("at least 1 record older than 10 d 0 h cannot be copied (message.timestamp.before.max.ms of"
                        + " the target)");
        assertThat(notes(plan, "w.old"))
                .startsWith(
                        "at least 2 records older than 7 d 0 h cannot be copied (message.timestamp.before.max.ms of"
                                + " the target)",
                        "records more than 60 min in the future cannot be copied, such as that of partition 0 offset 3"
                                + " (message.timestamp.after.max.ms of the target)");
        assertThat(plan).containsPattern("w.same +1 +0 +0 +none possible");
        assertThat(notes(plan, "w.same"))
                .startsWith("cannot be created: the target has topic w_same, and does not take two names that differ"
                        + " only in '.' and '_'");
        assertThat(notes(plan, "w.stamped"))
                .startsWith("the target replaces timestamps: message.timestamp.type=LogAppendTime");
        assertThat(notes(plan, "w.there")).first().asString().startsWith("the target has 2 records before the");
        assertThat(plan.lines().filter(line -> line.startsWith("    "))).allMatch(line -> line.length() <= READABLE);

        assertThat(notes(plan(ALL, 1, "--topic-prefix=of-europe."), LONG + " -> of-europe." + LONG))
                .element(1) // after the rest of the row
                .asString()
                .contains("which is longer than the 249 characters that Kafka allows");
        assertThat(plan("w\\.there", 0))
                .contains("Warning: The target has all of the topics, with 2 records, and the source 0. Are source and"
                        + " target the wrong way round?");
    }

    /** The lines after that of the topic. */
    private static List<String> notes(String plan, String topic) {
        return Stream.of(plan.split("\n"))
                .dropWhile(line -> !line.startsWith(topic + " ") && !line.equals(topic))
                .skip(1)
                .takeWhile(line -> line.startsWith("    "))
                .map(String::strip)
                .toList();
    }

    private static void both(
            String topic, int here, Map<String, String> settings, int there, Map<String, String> settingsThere) {
        clusters.source().createTopic(topic, here, 1, settings);
        clusters.target().createTopic(topic, there, 1, settingsThere);
    }

    /** A record of each age. */
    private static void write(Map<String, Object> client, String topic, Duration... ages) {
        List<Future<?>> results = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = StockProducers.create(client)) {
            for (Duration age : ages) {
                long timestamp = System.currentTimeMillis() - age.toMillis();
                byte[] value = age.toString().getBytes(StandardCharsets.UTF_8);
                results.add(producer.send(new ProducerRecord<>(topic, 0, timestamp, value, value)));
            }
        }
        results.forEach(MirrorFixture::get);
    }

    private static String plan(String topics, int exit, String... more) throws Exception {
        List<String> args = new ArrayList<>(List.of(
                "plan",
                "--source=" + clusters.source().bootstrapServers(),
                "--target=" + clusters.target().bootstrapServers(),
                "--topics=" + topics));
        args.addAll(List.of(more));
        try (MirrorProcess plan = MirrorProcess.start(args.toArray(String[]::new))) {
            assertThat(plan.awaitExit(PATIENCE)).as(plan.output()).isEqualTo(exit);
            return plan.output();
        }
    }
}
