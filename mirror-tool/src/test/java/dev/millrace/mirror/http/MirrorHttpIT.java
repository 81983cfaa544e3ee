package dev.millrace.mirror.http;

import static dev.millrace.mirror.support.MirrorFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.support.Chromium;
import dev.millrace.mirror.support.MirrorFixture;
import dev.millrace.mirror.support.MirrorProcess;
import dev.millrace.mirror.support.StockProducers;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.imageio.ImageIO;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a mirror of real clusters shows over HTTP, compared with what the target has. */
class MirrorHttpIT {
    private static final int PARTITIONS = 3;
    private static final int RECORDS = 6_000;

    private static final List<String> SHOWN = List.of("audit", "orders", "payments.eu");
    private static final int RECORDS_AT_ONCE = 12;
    private static final String TOKEN = "0123456789abcdef";
    private static final int PAGE_WIDTH = 1_240;
    private static final String ROWS = "[...document.querySelectorAll('#partitions tr')]";
    private static final String PAUSED = ROWS + ".filter(row => row.lastChild.textContent === 'paused')";
    private static final String CHANGED = "find('changed').textContent";
    private static final String POINTS =
            "document.querySelector('#rateChart polyline').getAttribute('points').split(' ').length";

    @AutoClose
    private static final MirrorFixture clusters = new MirrorFixture();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "CONSUMER"})
    void shouldCountWhatTheTargetHas(CopyMode mode) throws Exception {
        String topic = "count-" + mode;
        clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        clusters.fill(topic, PARTITIONS, RECORDS, 1);
        Path slowly = Files.writeString(folder.resolve("slow.properties"), MirrorFixture.slowConsumer());

        try (MirrorProcess mirror = clusters.mirror(topic, 1, mode, "--http=0", "--consumer.config=" + slowly)) {
            await("it tells its address", () -> mirror.httpAddress().isPresent(), mirror);
            await("some is mirrored", () -> records(mirror, topic) > 0, mirror);
            double midway = records(mirror, topic);
            assertThat(midway).isLessThanOrEqualTo((double) clusters.mirrored(topic));
            await("all is mirrored", () -> records(mirror, topic) == RECORDS, mirror);
            await("it is ready", () -> mirror.get("readyz").statusCode() == 200, mirror);
            assertThat(mirror.get("healthz").statusCode()).isEqualTo(200);

            Map<String, Double> metrics = new HashMap<>();
            await("it knows that no lag is left", () -> knowsOfNoLag(metrics, mirror, topic), mirror);
            for (Map.Entry<TopicPartition, Long> end :
                    clusters.mirroredByPartition(topic).entrySet()) {
                String labels =
                        "{topic=\"" + topic + "\",partition=\"" + end.getKey().partition() + "\"}";
                assertThat(metrics.get("millrace_mirror_records_total" + labels))
                        .isEqualTo(end.getValue().doubleValue());
                assertThat(metrics.get("millrace_mirror_bytes_total" + labels)).isPositive();
                assertThat(metrics.get("millrace_mirror_lag_seconds" + labels)).isZero();
            }
            String ofTopic = "{topic=\"" + topic + "\"}";
            assertThat(metrics.get("millrace_mirror_latency_seconds_count" + ofTopic))
                    .isEqualTo(RECORDS);
            assertThat(metrics.get("millrace_mirror_latency_seconds_sum" + ofTopic))
                    .isPositive();
            assertThat(metrics)
                    .containsEntry("millrace_mirror_assigned_partitions", (double) PARTITIONS)
                    .containsEntry("millrace_mirror_in_flight_records", 0.0)
                    .containsEntry("millrace_mirror_lag_known", 1.0)
                    .containsEntry("millrace_mirror_state{state=\"running\"}", 1.0)
                    .containsEntry("millrace_mirror_cluster_up{cluster=\"target\"}", 1.0);
        }
    }

    @Tag("thorough")
    @Test
    void shouldSayWhatItWaitsFor() throws Exception {
        String topic = "late";
        try (MirrorProcess mirror =
                clusters.mirror(topic, 1, CopyMode.AUTO, "--http=0", "--wait-at-start=5m", "--wait-for-target=5m")) {
            await("it tells its address", () -> mirror.httpAddress().isPresent(), mirror);
            await("it waits for a topic", () -> mirror.get("readyz").body().contains("matches none of"), mirror);
            assertThat(mirror.get("readyz").statusCode()).isEqualTo(503);
            assertThat(mirror.get("healthz").statusCode()).isEqualTo(200);

            clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
            await("it is ready", () -> mirror.get("readyz").statusCode() == 200, mirror);

            clusters.target().stop(1);
            try {
                await(
                        "it waits for the target",
                        () -> mirror.get("readyz").body().startsWith("The target cluster has not answered for"),
                        mirror);
                assertThat(mirror.get("readyz").statusCode()).isEqualTo(503);
                assertThat(mirror.get("healthz").statusCode()).isEqualTo(200);
                assertThat(scrape(mirror))
                        .containsEntry("millrace_mirror_cluster_up{cluster=\"source\"}", 1.0)
                        .containsEntry("millrace_mirror_cluster_up{cluster=\"target\"}", 0.0);
            } finally {
                clusters.target().restart(1);
            }
            await("it is ready again", () -> mirror.get("readyz").statusCode() == 200, mirror);
        }
    }

    /**
     * {@code -Dmillrace.picture=docs/mirror-status.png -Dmillrace.picture.seconds=90} takes the
     * picture of the documentation; the file is named in full.
     */
    @Test
    void shouldShowAndTakeChangesInARealBrowser() throws Exception {
        Optional<Path> browser = Chromium.find();
        assumeTrue(browser.isPresent(), "This machine has no Chromium on its PATH");
        Path picture = Path.of(System.getProperty("millrace.picture", "target/mirror-status.png"));
        int seconds = Integer.getInteger("millrace.picture.seconds", 3);
        Path token = Files.writeString(folder.resolve("token"), TOKEN);
        for (String topic : SHOWN) {
            clusters.source().createTopic(topic, PARTITIONS, 1, Map.of());
        }
        String[] options = {"--http=0", "--http-token-file=" + token};
        try (Producer<byte[], byte[]> producer =
                        StockProducers.create(clusters.source().clientConfig());
                MirrorProcess mirror = clusters.mirror(String.join("|", SHOWN), 1, CopyMode.AUTO, options)) {
            await("it tells its address", () -> mirror.httpAddress().isPresent(), mirror);
            try (Chromium page =
                    new Chromium(browser.get(), folder, mirror.httpAddress().get(), PAGE_WIDTH)) {
                await(
                        "all partitions are there",
                        () -> page.evaluate(ROWS + ".length").equals("9"),
                        mirror);
                awaitPoints(page, seconds / 3, producer);
                page.evaluate("find('token').value = '" + TOKEN + "'");
                page.evaluate(ROWS + ".find(row => row.textContent.startsWith('audit-')).click()");
                page.evaluate("find('pause').click()");
                await("it says so", () -> page.evaluate(CHANGED).startsWith("Paused topics audit; "), mirror);
                await("it is paused", () -> page.evaluate(PAUSED + ".length").equals("3"), mirror);
                page.evaluate("find('topics').value = 'orders', find('rate').value = '20KB', find('throttle').click()");
                await(
                        "it is limited",
                        () -> page.evaluate(CHANGED).startsWith("Limited topics orders to 20 KB/s each"));
                page.evaluate("find('all').click()");
                awaitPoints(page, seconds, producer);

                Files.write(picture, page.takePicture());
                assertThat(page.errors()).isEmpty();
            }
        }
        BufferedImage taken = ImageIO.read(picture.toFile());
        assertThat(taken.getWidth()).isEqualTo(PAGE_WIDTH);
        assertThat(taken.getHeight()).isGreaterThan(PAGE_WIDTH / 2);
    }

    /** Writes until the line has so many points, one for each second. */
    private static void awaitPoints(Chromium page, int points, Producer<byte[], byte[]> producer) {
        byte[] value = new byte[100];
        await("the lines have grown", () -> {
            for (String topic : SHOWN) {
                for (int i = 0; i < RECORDS_AT_ONCE; i++) {
                    var unused = producer.send(new ProducerRecord<>(topic, i % PARTITIONS, null, value));
                }
            }
            return Integer.parseInt(page.evaluate(POINTS)) > points;
        });
    }

    private double records(MirrorProcess mirror, String topic) {
        return sum(scrape(mirror), "millrace_mirror_records_total{topic=\"" + topic + "\"");
    }

    /** Puts what it shows into a map; a lag that is not known yet is not there, and its sum would be 0, too. */
    private boolean knowsOfNoLag(Map<String, Double> metrics, MirrorProcess mirror, String topic) {
        metrics.clear();
        metrics.putAll(scrape(mirror));
        return metrics.get("millrace_mirror_lag_known") == 1
                && sum(metrics, "millrace_mirror_lag_records{topic=\"" + topic + "\"") == 0;
    }

    private static double sum(Map<String, Double> metrics, String prefix) {
        return metrics.entrySet().stream()
                .filter(metric -> metric.getKey().startsWith(prefix))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    /** The samples, by their names with labels. */
    private Map<String, Double> scrape(MirrorProcess mirror) {
        Map<String, Double> samples = new HashMap<>();
        mirror.get("metrics")
                .body()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .forEach(line -> {
                    int end = line.lastIndexOf(' ');
                    samples.put(line.substring(0, end), Double.valueOf(line.substring(end + 1)));
                });
        return samples;
    }
}
