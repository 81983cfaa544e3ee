package dev.millrace.client;

import dev.millrace.client.accumulator.Accumulator;
import dev.millrace.client.accumulator.BatchCodec;
import dev.millrace.client.accumulator.PartitionQueue;
import dev.millrace.client.accumulator.RecordEncoder;
import dev.millrace.client.accumulator.SequenceStart;
import dev.millrace.client.io.IoThreads;
import dev.millrace.client.io.ProducerId;
import dev.millrace.client.kafka.KafkaBridge;
import dev.millrace.client.kafka.ProducerSensors;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.raw.RawPartition;
import dev.millrace.client.raw.RawProducer;
import dev.millrace.client.raw.RawProducerId;
import dev.millrace.client.raw.RawResult;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;

/**
 * The raw side of a producer: takes encoded records and whole batches to the queue of their partition.
 *
 * <p><b>Threads:</b> any. As {@link RecordSender}, it takes no lock while memory is available.
 */
final class RawSender extends RawProducer {
    /** A little less than the most bytes of an array in any JVM. */
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 64;

    private final TopicLookup topics;
    private final Accumulator accumulator;
    private final IoThreads io;
    private final ProducerSensors sensors;
    private final List<BatchCodec> codecs;
    private final long maxBlockMs;
    private final RecordSizeLimit limit;
    private final boolean idempotent;
    private final TransactionApi transactions;
    private final boolean isTransactional;

    RawSender(
            ProducerConfig config,
            KafkaBridge kafka,
            TopicLookup topics,
            Accumulator accumulator,
            IoThreads io,
            TransactionApi transactions,
            RecordSizeLimit limit) {
        this.transactions = transactions;
        this.isTransactional = config.getString(ProducerConfig.TRANSACTIONAL_ID_CONFIG) != null;
        this.topics = topics;
        this.accumulator = accumulator;
        this.io = io;
        this.sensors = kafka.sensors();
        this.codecs = kafka.allCodecs();
        this.maxBlockMs = config.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG);
        this.limit = limit;
        this.idempotent = config.getBoolean(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG);
    }

    @Override
    public RawPartition partition(String topic, int partition) {
        return partition(topic, partition, maxBlockMs);
    }

    @Override
    public RawPartition partitionWithoutWaiting(String topic, int partition) {
        return partition(topic, partition, 0);
    }

    private RawPartition partition(String topic, int partition, long memoryWaitMs) {
        if (partition < 0) {
            throw new IllegalArgumentException("A partition of " + topic + " must not be negative: " + partition);
        }
        try {
            TopicImage image = topics.await(topic, partition, maxBlockMs).topic(topic);
            return new Partition(notClosed(accumulator.queue(topic, image.index(), partition)), memoryWaitMs);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    @Override
    public CompletableFuture<Void> withdraw(String topic, int partition, RuntimeException cause) {
        PartitionQueue queue = accumulator.find(new TopicPartition(topic, partition));
        return queue == null ? CompletableFuture.completedFuture(null) : queue.withdraw(cause);
    }

    @Override
    public void stopPartitionsAtFailures() {
        accumulator.stopPartitionsAtFailures();
    }

    @Override
    public void requestTopics(Collection<String> names) {
        ClusterImage image = topics.image();
        names.stream().filter(name -> image.topic(name) == null).forEach(name -> topics.requestMetadata(name, null));
    }

    @Override
    public boolean isIdempotent() {
        return idempotent;
    }

    @Override
    public RawProducerId idOrNull() {
        ProducerId known = io.producerId();
        return known.isKnown() ? new RawProducerId(known.id(), known.epoch()) : null;
    }

    /** Throws if the accumulator is closed, which it signals with null. */
    private <T> T notClosed(T given) {
        if (given == null) {
            throw new KafkaException("The producer is closed and takes no raw records", io.failure());
        }
        return given;
    }

    private void throwIfTooLarge(int size, String what, PartitionQueue queue) {
        if (size == Integer.MAX_VALUE) {
            throw new RecordTooLargeException(
                    what + " for " + queue.partition() + " has " + size + " bytes or more, which no batch can hold");
        }
        if (limit.fits(size)) {
            return;
        }
        boolean isForRequest = size > limit.bytes();
        throw new RecordTooLargeException(what + " for " + queue.partition() + " has " + size + " bytes; "
                + (isForRequest ? limit.setting() : ProducerConfig.BUFFER_MEMORY_CONFIG)
                + " allows " + (isForRequest ? limit.bytes() : limit.memory()));
    }

    private final class Partition implements RawPartition {
        private final PartitionQueue queue;
        private final long memoryWaitMs;

        Partition(PartitionQueue queue, long memoryWaitMs) {
            this.queue = queue;
            this.memoryWaitMs = memoryWaitMs;
        }

        /** Counts nothing for a caller that does not wait: it loses nothing and tries again. */
        private void countRefused() {
            if (memoryWaitMs > 0) {
                sensors.onRefused();
                sensors.onMemoryExhausted();
            }
        }

        @Override
        public RawResult append(long timestamp, byte[] source, int offset, int length) {
            Objects.checkFromIndexSize(offset, length, source.length); // nothing may throw once it is claimed
            int upperBound = RecordEncoder.batchSizeUpperBound(length);
            if (!limit.fits(upperBound) && upperBound < MAX_ARRAY) {
                ByteBuffer alone = queue.compressAlone(timestamp, source, offset, length);
                throwIfTooLarge(alone.remaining(), "A record", queue);
                return pass(alone);
            }
            throwIfTooLarge(upperBound, "A record", queue);
            transactions.enterSend();
            try {
                return notClosed(queue.append(timestamp, source, offset, length, memoryWaitMs));
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            } catch (BufferExhaustedException e) {
                countRefused();
                throw e;
            } finally {
                transactions.exitSend();
            }
        }

        @Override
        public void compressWith(int codecId) {
            if (codecId < 0 || codecId >= codecs.size()) {
                throw new IllegalArgumentException(
                        "There is no codec " + codecId + "; those known are 0 to " + (codecs.size() - 1));
            }
            queue.setCodec(codecs.get(codecId));
        }

        @Override
        public CompletableFuture<Void> withdraw(RuntimeException cause) {
            return queue.withdraw(cause);
        }

        @Override
        public void sequenceFrom(RawProducerId id, int sequence) {
            if (!idempotent) {
                throw new IllegalStateException("Batches for " + queue.partition() + " have no sequences: "
                        + ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG + " is off");
            }
            if (isTransactional) {
                throw new IllegalStateException(
                        "Batches for " + queue.partition() + " belong to transactions, which" + " number them");
            }
            queue.sequenceFrom(new SequenceStart(id.id(), id.epoch(), sequence));
        }

        @Override
        public RawResult pass(ByteBuffer batch) {
            throwIfTooLarge(batch.remaining(), "A batch", queue);
            transactions.enterSend();
            try {
                return notClosed(queue.pass(batch, codecs, memoryWaitMs));
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            } catch (BufferExhaustedException e) {
                countRefused();
                throw e;
            } finally {
                transactions.exitSend();
            }
        }
    }
}
