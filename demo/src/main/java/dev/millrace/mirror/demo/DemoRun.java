package dev.millrace.mirror.demo;

import dev.millrace.mirror.cli.MirrorOptions;
import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.run.Mirror;
import dev.millrace.mirror.text.MirrorException;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import picocli.CommandLine;

/**
 * The main class of one run of this mirror. The mirror is the same that {@code mirror run} starts with the same
 * options, except that it stops when it has mirrored the records that the source had at the start.
 *
 * <p>{@link DemoProcess} reads its standard output: the number of records mirrored so far, and at the end the figures.
 */
final class DemoRun {
    private DemoRun() {}

    /** Takes the options of {@code mirror run}. */
    public static void main(String[] args) {
        DemoProcess.endWithParent();
        try {
            DemoProcess.print(measure(
                    CommandLine.populateCommand(new MirrorOptions(), args).toConfig()));
        } catch (MirrorException e) {
            System.out.println(e.getMessage());
            System.exit(e.exitCode());
        }
    }

    private static Measurement.Figures measure(MirrorConfig config) {
        Measurement measurement = new Measurement(readEnds(config));
        Mirror mirror = new Mirror(config, measurement);
        measurement.setEndAction(mirror::stop);
        mirror.run();
        return measurement.figures();
    }

    /** The offset after the last record, of every partition of the source that has records. */
    static Map<TopicPartition, Long> readEnds(MirrorConfig config) {
        try (Admin source = Clusters.connect("source", DerivedConfigs.admin(config.consumer()))) {
            Map<TopicPartition, Long> ends = Clusters.endOffsets(source, Demo.TOPIC, Demo.PARTITIONS);
            ends.values().removeIf(end -> end == 0);
            return ends;
        }
    }
}
