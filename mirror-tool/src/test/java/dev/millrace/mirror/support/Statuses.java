package dev.millrace.mirror.support;

import dev.millrace.mirror.config.ClusterRole;
import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.control.ControlState;
import dev.millrace.mirror.status.CertificateStatus;
import dev.millrace.mirror.status.LatencyCounts;
import dev.millrace.mirror.status.MemberStatus;
import dev.millrace.mirror.status.MirrorState;
import dev.millrace.mirror.status.MirrorStatus;
import dev.millrace.mirror.status.MirrorTotals;
import dev.millrace.mirror.status.PartitionStatus;
import dev.millrace.mirror.status.RefusedRecordsMXBean;
import dev.millrace.mirror.status.SourceGapsMXBean;
import dev.millrace.mirror.status.StallCause;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Statuses of mirrors that are not there. */
public final class Statuses {
    private Statuses() {}

    public static MirrorStatus running(List<PartitionStatus> partitions) {
        return of(MirrorState.RUNNING, "", "", partitions);
    }

    public static MirrorStatus running(ControlState controls, List<PartitionStatus> partitions) {
        return of(MirrorState.RUNNING, "", "", partitions, controls, List.of());
    }

    /** It runs, with a certificate for the source. */
    public static MirrorStatus expiring(Instant expiry) {
        CertificateStatus certificate = new CertificateStatus(ClusterRole.SOURCE, "/etc/mirror.p12", expiry);
        return of(MirrorState.RUNNING, "", "", partitions("a", 1), ControlState.NONE, List.of(certificate));
    }

    public static MirrorStatus of(
            MirrorState state, String failure, String obstacle, List<PartitionStatus> partitions) {
        return of(state, failure, obstacle, partitions, ControlState.NONE, List.of());
    }

    private static MirrorStatus of(
            MirrorState state,
            String failure,
            String obstacle,
            List<PartitionStatus> partitions,
            ControlState controls,
            List<CertificateStatus> certificates) {
        return new MirrorStatus(
                new MirrorStatus.Condition(state, failure, obstacle, true, false, 12.5),
                new MirrorStatus.Clusters(
                        "old:9092",
                        "new:9092",
                        TopicNames.of("", Map.of("renamed", "other")),
                        "mirror",
                        CopyMode.AUTO,
                        ResumeMode.EXACT,
                        2),
                certificates,
                new MirrorTotals(120, 100, 0, 5_000, 7, true),
                90,
                partitions,
                List.of(new MemberStatus("mirror-0", true, 2, 0.5)),
                new MirrorStatus.ProducerMemory(1_000, 16_000_000, 0.25),
                new MirrorStatus.Bytes(4_000, 4_500),
                new MirrorStatus.Events(gaps(), 2, refused(), 4, Map.of(StallCause.IN_FLIGHT_FULL, 1.5)),
                controls);
    }

    /** As many partitions of one topic, of which each has as many records as its number says. */
    public static List<PartitionStatus> partitions(String topic, int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> partition(topic, number, true, 3, null))
                .toList();
    }

    public static PartitionStatus partition(
            String topic, int number, boolean isOwned, long lag, StallCause stallOrNull) {
        return new PartitionStatus(
                topic,
                number,
                isOwned,
                number,
                10L * number,
                1,
                lag,
                lag < 0 ? Double.NaN : lag,
                stallOrNull,
                latency());
    }

    private static LatencyCounts latency() {
        return new LatencyCounts(new long[] {5, 1_000}, new long[] {1, 2, 0}, 0.75);
    }

    private static SourceGapsMXBean gaps() {
        return new SourceGapsMXBean() {
            @Override
            public long getGaps() {
                return 1;
            }

            @Override
            public long getRecordsSkipped() {
                return 50;
            }

            @Override
            public long getTruncations() {
                return 0;
            }

            @Override
            public long getPartitionsStopped() {
                return 3;
            }
        };
    }

    private static RefusedRecordsMXBean refused() {
        return new RefusedRecordsMXBean() {
            @Override
            public long getRecordsDeadLettered() {
                return 4;
            }

            @Override
            public long getRecordsSkipped() {
                return 5;
            }

            @Override
            public long getPartitionsStopped() {
                return 6;
            }
        };
    }
}
