package dev.millrace.client;

import dev.millrace.client.io.MetadataRefresh;
import dev.millrace.client.kafka.ProducerSensors;
import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.ClusterImages;
import dev.millrace.client.metadata.TopicImage;
import dev.millrace.client.metadata.TopicRegistry;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;

/**
 * Finds an image that knows a topic, and waits for one if need be.
 *
 * <p><b>Threads:</b> any. {@link #known} never waits and takes no lock; {@link #await} is the slow path.
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
     * The current image if it knows the topic and the partition.
     *
     * @param partition null if any will do
     * @return null if one must {@link #await}
     */
    ClusterImage known(String topic, Integer partition) {
        ClusterImage image = images.current();
        if (!has(image, topic, partition)) {
            return null;
        }
        registry.add(topic);
        return image;
    }

    /**
     * Blocks until an image knows the topic and the partition.
     *
     * @param maxBlockMs how long, milliseconds
     * @throws TimeoutException not within that time; its cause is what the cluster last said of the topic
     * @throws ApiException the topic's name is not valid, or we may not see it
     */
    ClusterImage await(String topic, Integer partition, long maxBlockMs) throws InterruptedException {
        long startNs = System.nanoTime();
        ClusterImage image = images.current();
        if (image.error(topic) instanceof InvalidTopicException known) {
            throw known; // Asking again will not make it valid.
        }
        long leftMs = maxBlockMs;
        while (!has(image, topic, partition)) {
            boolean first = registry.add(topic);
            if (image.topic(topic) == null) {
                refresh.requestNewTopics(first);
            } else {
                refresh.request();
            }
            if (leftMs <= 0) {
                throw timeout(image, topic, partition, maxBlockMs);
            }
            image = images.awaitNewerThan(image.version(), leftMs);
            throwIfHopeless(image.error(topic));
            leftMs = maxBlockMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
        }
        sensors.onMetadataWait(System.nanoTime() - startNs);
        return image;
    }

    private static boolean has(ClusterImage image, String topic, Integer partition) {
        TopicImage known = image.topic(topic);
        return known != null && (partition == null || partition < known.partitions());
    }

    private static void throwIfHopeless(ApiException error) {
        if (error instanceof InvalidTopicException || error instanceof TopicAuthorizationException) {
            throw error;
        }
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
