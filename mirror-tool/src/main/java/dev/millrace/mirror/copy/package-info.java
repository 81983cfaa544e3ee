/**
 * <b>Internal, not API.</b> Copies the partitions of one member to the shared producer. Enters: where a partition
 * begins, and its records or batches from the source. Leaves: records sent to the target, and how far it has
 * acknowledged each partition.
 *
 * <p>By default {@code BatchCopier} passes whole batches: its fetch thread hands them to a {@code PartitionCopy}, which
 * a {@code CopyWorker} drives. {@code RecordCopier} sends the records that Kafka's consumer has polled.
 */
package dev.millrace.mirror.copy;
