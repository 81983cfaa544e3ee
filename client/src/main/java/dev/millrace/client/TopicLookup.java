package dev.millrace.client;

import dev.millrace.client.io.MetadataRefresh;
import dev.millrace.client.kafka.ProducerSensors;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;

/**
 * Finds an image that has a topic, and waits for one if necessary.
 *
 * <p><b>Threads:</b> any. {@link #known} neither blocks nor locks; {@link #await} is the slow path. The I/O thread
 * marks the topic of each batch as in use, so that its metadata is kept.
 */
final class TopicLookup {
    private static final int MAX_NAME_LENGTH = 249;

    private final ClusterImages images;
    private final TopicRegistry registry;
    private final MetadataRefresh refresh;
    private final ProducerSensors sensors;

    TopicLookup(ClusterImages images, TopicRegistry registry, MetadataRefresh refresh, ProducerSensors sensors) {
        this.images = images;
        this.registry = registry;
        this.refresh = refresh;
        this.sensors = sensors;
    }

    /**
     * Returns the topic as the image has it.
     *
     * @param partition null for any partition
     * @return null if the image does not have the topic or the partition; then {@link #await} it
     */
    static TopicImage known(ClusterImage image, String topic, Integer partition) {
        TopicImage known = image.topic(topic);
        return known != null && (partition == null || partition < known.partitions()) ? known : null;
    }

    /**
     * Asks the cluster for a topic, or for more of its partitions; wakes the I/O thread and does not wait for the
     * response.
     */
    void requestMetadata(String topic, Integer partition) {
        boolean isNew = registry.add(topic);
        ClusterImage image = images.current();
        if (has(image, topic, null) && !has(image, topic, partition)) {
            refresh.request();
        }
        refresh.requestNewTopic(topic, isNew);
    }

    /** @throws InvalidTopicException no broker takes an empty or so long a name, and a much longer one fits no request */
    static void requireUsualLength(String topic) {
        if (topic.isEmpty()) {
            throw new InvalidTopicException(Set.of(topic));
        }
        if (topic.length() > MAX_NAME_LENGTH) {
            throw new InvalidTopicException("The name of a topic has at most " + MAX_NAME_LENGTH
                    + " characters; this has " + topic.length() + ": " + topic.substring(0, MAX_NAME_LENGTH) + "...");
        }
    }

    /** Returns the current image; take it once to look several times at the same one. */
    ClusterImage image() {
        return images.current();
    }

    /** Returns the last failure of a metadata request that a retry cannot fix, or null. */
    KafkaException lastFailure() {
        return images.lastFailure();
    }

    /** Whether every wait fails with {@link #lastFailure} from now on. */
    boolean hasFailedForGood() {
        return images.hasFailedForGood();
    }

    /**
     * Returns the error of a topic if waiting for the topic cannot help; else null.
     *
     * @param version errors that the image of this version may already have had do not count, except for an invalid
     *     name
     */
    static ApiException permanentErrorOrNull(ClusterImage image, String topic, int version) {
        if (image.error(topic) instanceof InvalidTopicException invalid) {
            return invalid;
        }
        return image.errorAfter(version, topic) instanceof TopicAuthorizationException refused ? refused : null;
    }

    /**
     * Returns the exception for a fruitless wait of {@code maxBlockMs} milliseconds; its cause is the topic's error, if
     * there is one.
     */
    TimeoutException timeoutException(String topic, Integer partition, long maxBlockMs) {
        return timeoutException(images.current(), topic, partition, maxBlockMs);
    }

    /**
     * Blocks until an image has the topic and the partition, and returns it. Marks the topic as used.
     *
     * @param maxBlockMs the longest time to block, in milliseconds
     * @throws TimeoutException not within that time; its cause is the topic's last error, if there is one
     * @throws ApiException the topic's name is not valid, or the producer may not see the topic
     * @throws KafkaException asking the cluster failed for good, or the producer is closed
     * @throws InterruptedException interrupted while blocked
     */
    ClusterImage await(String topic, Integer partition, long maxBlockMs) throws InterruptedException {
        ClusterImage image = images.current();
        int firstVersion = image.version();
        if (has(image, topic, partition)) {
            registry.add(topic);
            return image;
        }
        requireUsualLength(topic);
        if (image.error(topic) instanceof InvalidTopicException known) {
            throw known; // a further request will not make it valid
        }
        long startNs = System.nanoTime();
        long leftMs = maxBlockMs;
        do {
            requestMetadata(topic, partition);
            if (leftMs <= 0) {
                throw timeoutException(image, topic, partition, maxBlockMs);
            }
            image = images.awaitNews(topic, image.version(), leftMs);
            ApiException error = permanentErrorOrNull(image, topic, firstVersion);
            if (error != null) {
                throw error;
            }
            leftMs = maxBlockMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
        } while (!has(image, topic, partition));
        sensors.onMetadataWait(System.nanoTime() - startNs);
        return image;
    }

    static boolean has(ClusterImage image, ProducerRecord<?, ?> record) {
        return has(image, record.topic(), record.partition());
    }

    private static boolean has(ClusterImage image, String topic, Integer partition) {
        return known(image, topic, partition) != null;
    }

    private static TimeoutException timeoutException(
            ClusterImage image, String topic, Integer partition, long maxBlockMs) {
        TopicImage known = image.topic(topic);
        String message = known == null
                ? "Topic " + topic + " not present in metadata after " + maxBlockMs + " ms."
                : "Partition " + partition + " of topic " + topic + " with partition count " + known.partitions()
                        + " is not present in metadata after " + maxBlockMs + " ms.";
        return new TimeoutException(message, image.error(topic));
    }
}
