package dev.millrace.client.raw;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * A partition to which records and batches are written unchanged in the record format v2 (KIP-98). They are sent like
 * any others of the producer: idempotence, retries, order, memory and expiry are the same, and their outcome is that of
 * their batch. Interceptors are not called, and there are no callbacks.
 *
 * <p>The order is that of the calls, including those of {@code send} for this partition; if several threads call, the
 * order within each thread is kept. Only records of {@code send} that still wait for their topic, with {@code
 * millrace.metadata.block=false}, come later than what is written here.
 *
 * <p>With a {@code transactional.id}, what is written belongs to the open transaction, like what is sent. A call that
 * throws has written nothing and leaves the transaction unchanged, so the call can be repeated.
 *
 * <p><b>Threads:</b> any. A call blocks only while memory is used up, at most {@code max.block.ms} milliseconds.
 */
public interface RawPartition {
    /**
     * Appends a record to the partition's open batch, or opens the next one. Its bytes are copied without being
     * checked: a broker refuses the whole batch if they are no record. A record that may be larger than {@code
     * max.request.size} (or {@code millrace.max.record.size}) or {@code buffer.memory} is compressed at once, because
     * its compressed size counts, and sent in its own batch.
     *
     * @param timestamp milliseconds since the epoch
     * @param source holds the record from the length of its key on: key, value and headers, as in a v2 batch
     * @param offset where they start
     * @param length how many bytes they are
     * @return the result of the batch that holds the record
     * @throws org.apache.kafka.common.errors.RecordTooLargeException the record alone exceeds {@code max.request.size}
     *     or {@code buffer.memory}, after compression
     * @throws org.apache.kafka.clients.producer.BufferExhaustedException no memory within {@code max.block.ms}
     * @throws org.apache.kafka.common.errors.InterruptException interrupted while blocked; the flag is set again
     * @throws IllegalStateException the producer has a {@code transactional.id}, and no transaction is open
     * @throws org.apache.kafka.common.KafkaException the producer is closed, or its transaction has failed
     */
    RawResult append(long timestamp, byte[] source, int offset, int length);

    /**
     * Sets the codec for the partition's batches of records that are finished from now on, whatever {@code
     * compression.type} says. It also applies to the open batch and the records already in it. Levels are those of the
     * configuration.
     *
     * @param codecId the codec's number in the attributes of a batch
     * @throws IllegalArgumentException there is no such codec
     */
    void compressWith(int codecId);

    /**
     * Passes on a whole batch. Records appended before it are in earlier batches, which take no more records; records
     * appended later come after it. The batch is copied. Header fields that belong to the former log are rewritten:
     * base offset, leader epoch, producer id, epoch and sequence, and the transactional bit. The checksum is derived
     * from the present one without reading the records, so the broker still detects corruption: a corrupt batch fails
     * with {@code CorruptRecordException} and is not sent again. If the broker finds the batch too large, it is split,
     * and its parts are compressed with the batch's own codec.
     *
     * <p>{@code delivery.timeout.ms} counts from this call. {@code linger.ms} does not apply.
     *
     * @param batch holds exactly one batch between position and limit, of at most {@code max.request.size} and {@code
     *     buffer.memory}, which may be more than {@code batch.size}; neither position nor limit is changed
     * @return the result of the batch
     * @throws IllegalArgumentException it is not one complete batch of format 2 with at least one record and no gap in
     *     its offsets, or it is a control batch, or has timestamps that a broker gave, a delete horizon or an unknown
     *     codec; nothing was sent
     * @throws org.apache.kafka.common.errors.RecordTooLargeException it exceeds {@code max.request.size} or
     *     {@code buffer.memory}; nothing was sent
     * @throws org.apache.kafka.clients.producer.BufferExhaustedException no memory within {@code max.block.ms}
     * @throws org.apache.kafka.common.errors.InterruptException interrupted while blocked; the flag is set again
     * @throws IllegalStateException the producer has a {@code transactional.id}, and no transaction is open
     * @throws org.apache.kafka.common.KafkaException the producer is closed, or its transaction has failed
     */
    RawResult pass(ByteBuffer batch);

    /**
     * Sets the producer id, epoch and sequence of the next record; those after it follow. They may be those of an
     * earlier producer: a broker takes a sequence only once, and only directly after the last one that it has, so what
     * that producer has written, or still writes, is not written twice. From here on, only this call changes the
     * partition's producer id, epoch and sequences: if a batch fails, for whatever reason, all later ones fail until
     * this method is called again.
     *
     * @param sequence at least 0; 0 if the epoch is new
     * @throws IllegalStateException the producer is not idempotent, or has a {@code transactional.id}, or records of
     *     the partition wait to be sent; call it when the results of all records are known
     */
    void sequenceFrom(RawProducerId id, int sequence);

    /**
     * Withdraws the partition's records: those not in flight fail at once; those in flight are acknowledged or fail,
     * and are not sent again. Records of {@code send} are included. Does not wait. No thread may write to the partition
     * until the result is complete, or what it writes may be withdrawn as well.
     *
     * @param cause the cause with which the records fail
     * @return completes when everything has its outcome and nothing is in flight; never, if the producer is closed
     *     before that
     */
    CompletableFuture<Void> withdraw(RuntimeException cause);
}
