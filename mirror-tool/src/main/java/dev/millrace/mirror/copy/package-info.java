/**
 * <b>Internal, not API.</b> Copies the partitions of one member to the shared producer. Enters: where a partition
 * begins. Leaves: how far the target has acknowledged it.
 *
 * <p>By default {@code BatchCopier} passes whole batches: its fetch thread hands them to a {@code PartitionCopy},
 * which a {@code CopyWorker} drives. {@code RecordCopier} sends the records that Kafka's consumer has polled.
 */
package dev.millrace.mirror.copy;
