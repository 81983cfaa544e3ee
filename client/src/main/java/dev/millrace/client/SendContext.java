package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.io.IoThreads;
import dev.millrace.client.io.TransactionState;
import dev.millrace.client.kafka.Interceptors;
import dev.millrace.client.kafka.ProducerSensors;
import dev.millrace.client.partitioner.PartitionChooser;

/**
 * The objects that {@link RecordSender} works with.
 *
 * @param transactions null without {@code transactional.id}
 */
record SendContext<K, V>(
        Interceptors<K, V> interceptors,
        RecordSerializer<K, V> serializer,
        PartitionChooser partitions,
        TopicLookup topics,
        Accumulator accumulator,
        IoThreads io,
        ProducerSensors sensors,
        TransactionState transactions) {}
