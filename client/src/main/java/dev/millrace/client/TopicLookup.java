package dev.millrace.client;

import dev.millrace.client.io.MetadataRefresh;
import dev.millrace.client.kafka.ProducerSensors;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;

/**
 * Finds an image that knows a topic, and waits for one if need be.
 *
 * <p><b>Threads:</b> any. {@link #known} never waits and takes no lock; {@link #await} is the slow path. That a topic is in
 * use, so that its metadata must be kept, is noted by the I/O thread for each of its batches.
 */
final class TopicLookup {
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
     * The topic as the image shows it.
     *
     * @param partition null if any will do
     * @return null if the image does not know the topic or the partition, so that one must {@link #await}
     */
    static TopicImage known(ClusterImage image, String topic, Integer partition) {
        TopicImage known = image.topic(topic);
        return known != null && (partition == null || partition < known.partitions()) ? known : null;
    }

    /** The current image if it knows the topic and the partition, else null. */
    ClusterImage current(String topic, Integer partition) {
        ClusterImage image = images.current();
        return has(image, topic, partition) ? image : null;
    }

    /** Asks the cluster for a topic, or for more of its partitions, without waiting for the answer; wakes the I/O thread. */
    void ask(String topic, Integer partition) {
        boolean first = registry.add(topic);
        if (current(topic, null) != null && current(topic, partition) == null) {
            refresh.request();
        }
        refresh.requestNewTopics(first);
    }

    /** For several looks at the same. */
    ClusterImage image() {
        return images.current();
    }

    /** Why asking the cluster has last failed in a way that waiting does not mend, or null. */
    KafkaException lastFailure() {
        return images.lastFailure();
    }

    /** Why a topic will not be known however long one waits, if that is so and told after image {@code version}; else null. */
    static ApiException hopeless(ClusterImage image, String topic, int version) {
        ApiException error = hopeless(image.error(topic));
        return image.version() > version || error instanceof InvalidTopicException ? error : null;
    }

    /** What to tell who has waited in vain. */
    TimeoutException timeout(String topic, Integer partition, long maxBlockMs) {
        return timeout(images.current(), topic, partition, maxBlockMs);
    }

    /**
     * Blocks until an image knows the topic and the partition. The topic counts as used.
     *
     * @param maxBlockMs how long, milliseconds
     * @throws TimeoutException not within that time; its cause is what the cluster last said of the topic
     * @throws ApiException the topic's name is not valid, or we may not see it
     */
    ClusterImage await(String topic, Integer partition, long maxBlockMs) throws InterruptedException {
        ClusterImage image = images.current();
        if (has(image, topic, partition)) {
            registry.add(topic);
            return image;
        }
        if (image.error(topic) instanceof InvalidTopicException known) {
            throw known; // Asking again will not make it valid.
        }
        long startNs = System.nanoTime();
        long leftMs = maxBlockMs;
        do {
            ask(topic, partition);
            if (leftMs <= 0) {
                throw timeout(image, topic, partition, maxBlockMs);
            }
            image = images.awaitNewerThan(image.version(), leftMs);
            if (hopeless(image.error(topic)) != null) {
                throw image.error(topic);
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

    private static ApiException hopeless(ApiException error) {
        return error instanceof InvalidTopicException || error instanceof TopicAuthorizationException ? error : null;
    }

    private static TimeoutException timeout(ClusterImage image, String topic, Integer partition, long maxBlockMs) {
        TopicImage known = image.topic(topic);
        String message = known == null
                ? "Topic " + topic + " not present in metadata after " + maxBlockMs + " ms."
                : "Partition " + partition + " of topic " + topic + " with partition count " + known.partitions()
                        + " is not present in metadata after " + maxBlockMs + " ms.";
        return new TimeoutException(message, image.error(topic));
    }
}
