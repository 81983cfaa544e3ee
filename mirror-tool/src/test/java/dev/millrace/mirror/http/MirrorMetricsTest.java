package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.control.TopicControls;
import dev.millrace.mirror.status.PartitionStatus;
import dev.millrace.mirror.status.StallCause;
import dev.millrace.mirror.support.Statuses;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MirrorMetricsTest {
    @Test
    void shouldShowWhatIsPausedAndThrottled() {
        TopicControls controls = new TopicControls();
        controls.pause(Optional.of(Pattern.compile("a|gone")));
        controls.throttle(Optional.empty(), 5_000);
        controls.throttle(Optional.of(Pattern.compile("b")), 2_000);

        assertThat(MirrorMetrics.format(Statuses.running(
                                controls.state(),
                                List.of(
                                        Statuses.partition("a", 1, true, 3, null),
                                        Statuses.partition("a", 2, true, 3, null),
                                        Statuses.partition("b", 1, true, 3, null),
                                        Statuses.partition("gone", 1, false, 3, null))))
                        .lines()
                        .filter(line -> line.matches("millrace_mirror_(paused|throttle).*")))
                .containsExactly(
                        "millrace_mirror_paused_partitions 2",
                        "millrace_mirror_paused{topic=\"a\"} 1",
                        "millrace_mirror_throttle_bytes_per_second 5000",
                        "millrace_mirror_throttle_bytes_per_second{topic=\"b\"} 2000");
    }

    @Test
    void shouldShowWhatIsKnownOfEachPartition() {
        List<String> lines = lines(List.of(
                Statuses.partition("a", 1, true, 3, StallCause.IN_FLIGHT_FULL),
                Statuses.partition("a", 2, true, -1, null),
                Statuses.partition("b", 3, false, -1, null)));

        assertThat(lines)
                .contains(
                        "millrace_mirror_records_total{topic=\"a\",partition=\"1\"} 1",
                        "millrace_mirror_records_total{topic=\"b\",partition=\"3\"} 3",
                        "millrace_mirror_bytes_total{topic=\"a\",partition=\"2\"} 20",
                        "millrace_mirror_lag_records{topic=\"a\",partition=\"1\"} 3",
                        "millrace_mirror_lag_seconds{topic=\"a\",partition=\"1\"} 3",
                        "millrace_mirror_assigned_partitions 2",
                        "millrace_mirror_catch_up_seconds 90",
                        "millrace_mirror_latency_seconds_bucket{topic=\"a\",le=\"0.005\"} 2",
                        "millrace_mirror_latency_seconds_bucket{topic=\"a\",le=\"+Inf\"} 6",
                        "millrace_mirror_stalled_partitions{cause=\"in-flight-full\"} 1",
                        "millrace_mirror_stalled_partitions{cause=\"stopped\"} 0",
                        "millrace_mirror_stall_seconds_total{cause=\"in-flight-full\"} 1.5",
                        "millrace_mirror_in_flight_records 20",
                        "millrace_mirror_in_flight_bytes 1000",
                        "millrace_mirror_gaps_total 1",
                        "millrace_mirror_refused_records_total{policy=\"dead-letter\"} 4",
                        "millrace_mirror_stopped_partitions_total{option=\"on-refused\"} 6",
                        "millrace_mirror_state{state=\"running\"} 1",
                        "millrace_mirror_state{state=\"failed\"} 0",
                        "millrace_mirror_cluster_up{cluster=\"target\"} 0",
                        "millrace_mirror_info{source=\"old:9092\",target=\"new:9092\",group=\"mirror\",mode=\"auto\","
                                + "resume=\"exact\"} 1")
                .noneMatch(line -> line.startsWith("millrace_mirror_lag_records{topic=\"a\",partition=\"2\""))
                .noneMatch(line -> line.startsWith("millrace_mirror_lag_records{topic=\"b\""));
    }

    @Test
    void shouldLeaveThePartitionOutWhenThereAreMoreThanAThousand() {
        List<PartitionStatus> partitions = new ArrayList<>(Statuses.partitions("big", 1_001));
        partitions.addAll(Statuses.partitions("small", 2));

        assertThat(lines(partitions))
                .contains(
                        "millrace_mirror_records_total{topic=\"big\"} 500500",
                        "millrace_mirror_records_total{topic=\"small\"} 1",
                        "millrace_mirror_lag_records{topic=\"big\"} 3003",
                        "millrace_mirror_lag_seconds{topic=\"big\"} 3")
                .noneMatch(line -> line.contains("partition=\""));
    }

    @Test
    void shouldHaveSoManySeriesAtMostHoweverManyTopicsThereAre() {
        List<PartitionStatus> partitions = IntStream.range(0, 1_001)
                .mapToObj(number -> Statuses.partition("topic-" + number, 0, true, 1, null))
                .toList();

        assertThat(lines(partitions))
                .contains(
                        "millrace_mirror_lag_records 1001",
                        "millrace_mirror_fetched_bytes_total 4000",
                        "millrace_mirror_written_bytes_total 4500",
                        "millrace_mirror_latency_seconds_count 3003")
                .noneMatch(line -> line.contains("topic=\""));
    }

    @Test
    void shouldNameEveryFamilyOnceAndByTheConventions() {
        List<String> types = lines(Statuses.partitions("a", 1)).stream()
                .filter(line -> line.startsWith("# TYPE "))
                .toList();

        assertThat(types)
                .doesNotHaveDuplicates()
                .allMatch(line -> line.matches("# TYPE millrace_mirror_[a-z_]+ (counter|gauge|histogram)"))
                .allMatch(line -> line.endsWith("_total counter") == line.endsWith(" counter"));
    }

    private static List<String> lines(List<PartitionStatus> partitions) {
        return MirrorMetrics.format(Statuses.running(partitions)).lines().toList();
    }
}
