package dev.millrace.client.metadata;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives each name of a topic a number of its own: 0, 1, 2, … in the order in which the producer came to know them. Who keeps
 * something for each topic finds it by an array's index instead of a second look-up by name.
 *
 * <p><b>Threads:</b> any. No number is ever given to a second name, nor a second number to a name, even if the topic was
 * forgotten or deleted meanwhile: a record that took another topic's number would go to another topic.
 */
final class TopicIndexes {
    private final ConcurrentHashMap<String, Integer> byName = new ConcurrentHashMap<>();
    private final AtomicInteger next = new AtomicInteger();

    int of(String name) {
        return byName.computeIfAbsent(name, unknown -> next.getAndIncrement());
    }
}
