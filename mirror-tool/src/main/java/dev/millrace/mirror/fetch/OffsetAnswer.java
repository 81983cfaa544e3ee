package dev.millrace.mirror.fetch;

import org.apache.kafka.common.TopicPartition;

/**
 * The answer to an {@link OffsetQuery}.
 *
 * @param offset -1 if there is none
 * @param epoch the leader epoch of the offset; -1 if unknown
 */
public record OffsetAnswer(TopicPartition partition, PartitionAnswer.Outcome outcome, long offset, int epoch) {}
