package dev.millrace.client.metadata;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;

/**
 * A topic that the last metadata response named with an error. It has no partitions. It is a {@link TopicImage} so that
 * a {@link NameTrie} holds nothing else and a look-up in {@code send} needs no cast.
 */
final class MissingTopic extends TopicImage {
    private static final int[] NO_PARTITIONS = {};

    private final ApiException error;
    private final int imageVersion;
    private final TopicImage lastKnown;

    /**
     * Creates a topic with this error.
     *
     * @param imageVersion version of the image that the response made
     * @param lastKnown the topic as last described, so that leader epochs do not go back when it is described again;
     *     null if it never was
     */
    MissingTopic(String name, ApiException error, int imageVersion, TopicImage lastKnown) {
        super(name, NO_INDEX, Uuid.ZERO_UUID, NO_PARTITIONS, null);
        this.error = error;
        this.imageVersion = imageVersion;
        this.lastKnown = lastKnown;
    }

    ApiException error() {
        return error;
    }

    int imageVersion() {
        return imageVersion;
    }

    /** Returns the topic as last described; null if it never was. */
    TopicImage lastKnown() {
        return lastKnown;
    }
}
