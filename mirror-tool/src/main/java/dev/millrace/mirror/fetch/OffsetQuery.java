package dev.millrace.mirror.fetch;

import org.apache.kafka.common.TopicPartition;

/**
 * A question about the log of a partition.
 *
 * @param leaderEpoch the epoch of the leader that is asked; -1 if unknown
 * @param subject a timestamp, to find the first offset at or after it; or a leader epoch, to find its end
 */
public record OffsetQuery(TopicPartition partition, int leaderEpoch, long subject) {}
