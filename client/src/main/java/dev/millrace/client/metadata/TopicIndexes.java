package dev.millrace.client.metadata;

import java.util.HashMap;
import java.util.Map;

/**
 * Assigns each topic name a number: 0, 1, 2, … in the order in which the producer first sees them. Code that keeps an
 * object per topic then finds it in an array instead of looking up the name a second time. The number of a topic in the
 * image is in its {@link TopicImage}; this class has only those of topics that have left the image.
 *
 * <p><b>Threads:</b> one at a time: {@link ClusterImages} makes each image under its lock, from the one before. A name
 * keeps its number, and a number its name, for the producer's lifetime, even if the topic is forgotten or deleted: a
 * record with another topic's number would go to that other topic.
 * <p><b>Bounds:</b> grows with the number of different names that have ever left the image: some 56 bytes each, and the
 * name itself, mostly 56 to 80.
 */
final class TopicIndexes {
    /** Entries are kept when their topics come back: so a change that fails half-way loses none. */
    private final Map<String, Integer> ofThoseGone = new HashMap<>();

    private int count;

    /** Returns the number of a topic that is not in the image: its former one, or the next. */
    int getOrAssign(String name) {
        Integer former = ofThoseGone.isEmpty() ? null : ofThoseGone.get(name);
        return former != null ? former : count++;
    }

    /** Keeps the number of a topic that leaves the image. */
    void keep(TopicImage topic) {
        ofThoseGone.put(topic.name, topic.index());
    }
}
