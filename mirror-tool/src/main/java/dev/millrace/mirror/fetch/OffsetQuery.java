package dev.millrace.mirror.fetch;

import org.apache.kafka.common.TopicPartition;

/**
 * A question about the log of a partition.
 *
 * @param leaderEpoch the epoch of the leader that is asked; -1 if unknown
 * @param subject a timestamp, for the first offset from it on; or a leader epoch, for where it ends
 */
public record OffsetQuery(TopicPartition partition, int leaderEpoch, long subject) {}
