package dev.millrace.client.raw;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * A partition to which records and batches are written as they stand in the record format v2 (KIP-98). They are sent
 * like any others of the producer: idempotence, retries, order, memory and expiry are the same, and their outcome is
 * that of their batch. Interceptors are not called, and there are no callbacks.
 *
 * <p>Order is that of the calls, those of {@code send} for this partition included; if several threads call, that of
 * each thread. Only records of {@code send} that still wait for their topic, with {@code millrace.metadata.block=false},
 * come later than what is written here.
 *
 * <p>With a {@code transactional.id} what is written belongs to the transaction that is open, as what is sent does. A call
 * that throws has written nothing and leaves the transaction as it is, so that it can be repeated.
 *
 * <p><b>Threads:</b> any. A call blocks only while memory is used up, at most {@code max.block.ms} milliseconds.
 */
public interface RawPartition {
    /**
     * Appends a record to the partition's open batch, or opens the next one. Its bytes are copied, and not looked at: a
     * broker refuses the whole batch if they are no record. One that may be larger than {@code max.request.size} (or
     * {@code millrace.max.record.size}) or
     * {@code buffer.memory} is compressed alone at once, as what counts is how large it is then, and sent in a batch of its
     * own.
     *
     * @param timestamp milliseconds since the epoch
     * @param source holds the record from the length of its key on: key, value and headers, as a v2 batch has them
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
     * Compresses the batches of records of the partition that are finished from now on with this codec, whatever {@code
     * compression.type} says: also the open one, with the records that it has. Levels are those of the configuration.
     *
     * @param codecId the codec's number in the attributes of a batch
     * @throws IllegalArgumentException there is no such codec
     */
    void compressWith(int codecId);

    /**
     * Passes on a whole batch. Records appended before it are in batches before it, which take no more of them; records
     * appended later come after it. The batch is copied. In the header what belongs to the former place is written
     * anew: base offset, leader epoch, producer id, epoch and sequence, and the transactional bit. The checksum is
     * derived from the present one without a look at the records, so the broker still finds what was corrupt: such a
     * batch fails with {@code CorruptRecordException} and is not sent again. If the broker finds the batch too large it
     * is split, and its parts are compressed with its own codec.
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
     * Sets the producer id, epoch and sequence of the next record; those after it follow. They may be those of a former
     * producer: a broker takes a sequence only once, and only next after the last one that it has, so what that producer
     * has written, or still writes, is not written twice. From here on nothing but this call changes the numbers of the
     * partition: if a batch fails, for whatever reason, all later ones fail, until numbers are set again.
     *
     * @param sequence at least 0; 0 if the epoch is new
     * @throws IllegalStateException the producer is not idempotent, or has a {@code transactional.id}, or records of the
     *     partition wait to be sent: to be called when the results of all are known
     */
    void numberFrom(RawProducerId id, int sequence);

    /**
     * Takes back what the partition holds: what is not in flight fails at once, and what is in flight is acknowledged or
     * fails, and is not sent again. Records of {@code send} are included. Does not wait. Nobody may write to the
     * partition until the result is complete, or what is written may be taken back as well.
     *
     * @param cause with which the records fail
     * @return completes when everything has its outcome and nothing is in flight; never, if the producer is closed before
     */
    CompletableFuture<Void> withdraw(RuntimeException cause);
}
