package dev.millrace.mirror.http;

import dev.millrace.mirror.status.PartitionStatus;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Decides how partitions are shown: up to 1,000 one by one; above that, a sum for each topic; with more topics than
 * that, a single sum. Partitions that have moved away keep their counts, so the form changes at most twice in the life
 * of a process.
 */
final class PartitionRows {
    static final int MAX_ROWS = 1_000;

    private PartitionRows() {}

    /** Returns the rows by their labels: names and values in turn. */
    static Map<List<String>, PartitionStatus> of(Collection<PartitionStatus> partitions) {
        Map<List<String>, PartitionStatus> rows =
                sums(partitions, row -> List.of("topic", row.topic(), "partition", Integer.toString(row.partition())));
        if (rows.size() > MAX_ROWS) {
            rows = sums(partitions, row -> List.of("topic", row.topic()));
        }
        return rows.size() > MAX_ROWS ? sums(partitions, row -> List.of()) : rows;
    }

    private static Map<List<String>, PartitionStatus> sums(
            Collection<PartitionStatus> partitions, Function<PartitionStatus, List<String>> labels) {
        Map<List<String>, PartitionStatus> sums = new LinkedHashMap<>();
        partitions.forEach(row -> sums.merge(labels.apply(row), row, PartitionStatus::plus));
        return sums;
    }
}
