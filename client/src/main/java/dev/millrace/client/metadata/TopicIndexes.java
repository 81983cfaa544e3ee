package dev.millrace.client.metadata;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Assigns each topic name a number: 0, 1, 2, … in the order in which the producer first sees them. Code that keeps an
 * object per topic then finds it in an array instead of looking up the name a second time.
 *
 * <p><b>Threads:</b> any. A name keeps its number, and a number its name, for the producer's lifetime, even if the
 * topic is forgotten or deleted: a record with another topic's number would go to that other topic.
 */
final class TopicIndexes {
    private final ConcurrentHashMap<String, Integer> byName = new ConcurrentHashMap<>();
    private final AtomicInteger next = new AtomicInteger();

    /** The number of {@code name}; assigns the next one at the first call. */
    int getOrAssign(String name) {
        return byName.computeIfAbsent(name, unknown -> next.getAndIncrement());
    }
}
