package dev.millrace.client.support;

import dev.millrace.testkit.Await;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * What a test with short time-outs does first, and repeats until it succeeds: a broker that has just started needs a
 * second for its first producer id and its first write, and any machine may stall.
 */
public final class Tries {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Tries() {}

    /** Sends the record until it is acknowledged; it may then be there more than once. */
    public static <K, V> void untilAcknowledged(Producer<K, V> producer, ProducerRecord<K, V> record) {
        Await.until("a record is acknowledged", PATIENCE, () -> isAcknowledged(producer.send(record)));
    }

    /** Requests metadata until the producer knows the topic, which it then does for minutes. */
    public static void untilKnown(Producer<?, ?> producer, String topic) {
        Await.until("the producer knows " + topic, PATIENCE, () -> knows(producer, topic));
    }

    /**
     * Blocks until the record has an outcome, and returns whether it was acknowledged. Without an offset it counts as
     * well: a program that gets no exception takes the record as written.
     */
    public static boolean isAcknowledged(Future<RecordMetadata> future) {
        try {
            future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException failed) {
            return false;
        } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
            throw new IllegalStateException("The record has no outcome", e);
        }
    }

    private static boolean knows(Producer<?, ?> producer, String topic) {
        try {
            return !producer.partitionsFor(topic).isEmpty();
        } catch (TimeoutException slow) {
            return false;
        }
    }
}
