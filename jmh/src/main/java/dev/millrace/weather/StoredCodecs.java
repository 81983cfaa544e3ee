package dev.millrace.weather;

import dev.millrace.testkit.cluster.KafkaCluster;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.RecordBatch;

/** Reads from a broker's files what no client tells. */
final class StoredCodecs {
    private static final int SMALL_BYTES = 2_000;

    private StoredCodecs() {}

    /**
     * The codecs of the batches of this partition, as its leader has stored them. Small batches do not count: the mirror leaves
     * out a compression that makes a batch larger.
     */
    static Set<CompressionType> of(KafkaCluster cluster, TopicPartition partition) {
        int leader = cluster.leader(partition.topic(), partition.partition());
        Set<CompressionType> codecs = EnumSet.noneOf(CompressionType.class);
        try {
            for (File segment : segments(cluster.dataFolder(leader).resolve(partition.toString()))) {
                try (FileRecords records = FileRecords.open(segment, false)) {
                    for (RecordBatch batch : records.batches()) {
                        if (!batch.isControlBatch() && batch.sizeInBytes() > SMALL_BYTES) {
                            codecs.add(batch.compressionType());
                        }
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the log of " + partition, e);
        }
        return codecs;
    }

    private static List<File> segments(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".log"))
                    .map(Path::toFile)
                    .toList();
        }
    }
}
