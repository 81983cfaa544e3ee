package dev.millrace.mirror.refused;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.RefusalPolicies;
import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.topics.TopicCreator;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * Writes records that the target refuses to a dead-letter topic there: key, value and headers as they were, and further
 * headers that say where they come from and why they are there. Has a producer of its own, opened when it is needed:
 * the mirror sets the sequences in the partitions of its main producer, which may take no record as large as these.
 *
 * <p><b>Threads:</b> any; the thread that closes it does so last.
 */
public final class DeadLetters implements AutoCloseable {
    /** The headers are named like those of Kafka Connect, whose prefix is {@code __connect.errors.}. */
    static final String PREFIX = "__millrace.errors.";

    private static final Map<String, String> TOPIC_SETTINGS = Map.of(
            // Its records may be there because they are too large for their own topic.
            TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
            Integer.toString(Integer.MAX_VALUE),
            TopicConfig.CLEANUP_POLICY_CONFIG,
            TopicConfig.CLEANUP_POLICY_DELETE,
            // Dead letters stay until someone has dealt with them.
            TopicConfig.RETENTION_MS_CONFIG,
            "-1");

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
    private static final long LEAST_MEMORY = 64L << 20;
    private static final int MAX_REQUEST_SIZE = 1 << 30;

    private final RefusalPolicies policies;
    private final TopicNames names;
    private final Admin source;
    private final Admin target;
    private final Supplier<Producer<byte[], byte[]>> open;
    private final Set<String> ready = ConcurrentHashMap.newKeySet();
    private Producer<byte[], byte[]> producer;

    public DeadLetters(RefusalPolicies policies, Admin source, Admin target, MirrorConfig config) {
        this.policies = policies;
        this.names = config.names();
        this.source = source;
        this.target = target;
        this.open = () -> config.producerKind().create(config(config.producer()));
    }

    private static Map<String, Object> config(Map<String, Object> producer) {
        Map<String, Object> config = new HashMap<>(producer);
        config.computeIfPresent(ProducerConfig.CLIENT_ID_CONFIG, (key, id) -> id + "-dead-letter");
        config.put(ProducerConfig.LINGER_MS_CONFIG, 0); // each is waited for
        config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MAX_REQUEST_SIZE);
        config.put(
                ProducerConfig.BUFFER_MEMORY_CONFIG,
                Math.max(LEAST_MEMORY, new ProducerConfig(producer).getLong(ProducerConfig.BUFFER_MEMORY_CONFIG)));
        return config;
    }

    String topicFor(TopicPartition partition) {
        return policies.deadLetterTopic(names.onTarget(partition.topic()));
    }

    /**
     * Sends one; the result completes when the target has it. Blocks while the topic is created or memory is lacking.
     */
    CompletableFuture<Void> send(TopicPartition from, ConsumerRecord<byte[], byte[]> record, Throwable cause) {
        Headers headers = new RecordHeaders(record.headers().toArray());
        addSource(headers, from, record.offset(), cause);
        add(headers, "timestamp", Long.toString(record.timestamp()));
        return send(from, record.key(), record.value(), headers);
    }

    /** Sends the bytes of a batch, as the value, if no record of it can be read. */
    CompletableFuture<Void> send(TopicPartition from, UnreadableBatch batch) {
        Headers headers = new RecordHeaders();
        addSource(headers, from, batch.from(), batch.cause());
        add(headers, "batch.next.offset", Long.toString(batch.next()));
        return send(from, null, batch.bytes(), headers);
    }

    private static void addSource(Headers headers, TopicPartition from, long offset, Throwable cause) {
        add(headers, "topic", from.topic());
        add(headers, "partition", Integer.toString(from.partition()));
        add(headers, "offset", Long.toString(offset));
        add(headers, "exception.class.name", cause.getClass().getName());
        add(headers, "exception.message", MirrorException.reason(cause));
    }

    private static void add(Headers headers, String name, String value) {
        headers.add(PREFIX + name, value.getBytes(StandardCharsets.UTF_8));
    }

    private CompletableFuture<Void> send(TopicPartition from, byte[] key, byte[] value, Headers headers) {
        String topic = topicFor(from);
        if (!ready.contains(topic)) {
            prepare(topic, from);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        // The record's timestamp is left out, because it may be what the target refuses.
        ProducerRecord<byte[], byte[]> letter = new ProducerRecord<>(topic, null, null, key, value, headers);
        producer().send(letter, (metadata, failure) -> {
            if (failure == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(failure);
            }
        });
        return done;
    }

    /** Creates the topic again if somebody has deleted it. Blocks while the target answers. */
    void prepareAgain(TopicPartition from) {
        prepare(topicFor(from), from);
    }

    private synchronized Producer<byte[], byte[]> producer() {
        if (producer == null) {
            producer = open.get();
        }
        return producer;
    }

    private synchronized void prepare(String topic, TopicPartition from) {
        names.onSource(topic).ifPresent(copied -> requireMissing(copied, topic, from));
        if (!Clusters.describe(target, Set.of(topic)).containsKey(topic)) {
            try {
                new TopicCreator(target).create(topic, 1, TOPIC_SETTINGS);
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof TopicExistsException)) { // otherwise another mirror was faster
                    throw MirrorException.failed("Could not create the dead-letter topic " + topic, e.getCause());
                }
            }
        }
        ready.add(topic);
    }

    private void requireMissing(String copied, String topic, TopicPartition from) {
        if (isOnSource(copied)) {
            throw MirrorException.failed(
                    "--dead-letter-topic " + policies.deadLetterTopic() + ": the source has a topic "
                            + copied + (copied.equals(topic) ? "" : ", whose copy is " + topic)
                            + ", too, with which the dead letters of " + from.topic()
                            + " could be mixed up; choose another name");
        }
    }

    /** The mirror does not copy topics that it may not see. */
    private boolean isOnSource(String topic) {
        try {
            return Clusters.describe(source, Set.of(topic)).containsKey(topic);
        } catch (TopicAuthorizationException e) {
            return false;
        }
    }

    @Override
    public synchronized void close() {
        if (producer != null) {
            producer.close(CLOSE_TIMEOUT); // all that counts was waited for
        }
    }
}
