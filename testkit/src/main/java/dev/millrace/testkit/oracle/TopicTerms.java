package dev.millrace.testkit.oracle;

import java.util.Map;

/**
 * What may be expected of a topic.
 *
 * @param generation the number of the topic of this name that exists now; records that were sent to an earlier one may
 *     be gone
 * @param uncleanMs by partition, when a replica that was not in sync became its leader for the last time, on the clock of
 *     the ledger; of records that were told as acknowledged before that, Kafka itself may have lost some
 */
public record TopicTerms(int generation, Map<Integer, Long> uncleanMs) {
    public TopicTerms {
        uncleanMs = Map.copyOf(uncleanMs);
    }

    /** A topic that keeps what it acknowledges, and is never deleted. */
    public static TopicTerms kept() {
        return new TopicTerms(0, Map.of());
    }

    /** A topic that had unclean elections, and is never deleted. */
    public static TopicTerms unclean(Map<Integer, Long> lastMs) {
        return new TopicTerms(0, lastMs);
    }

    /** A topic that was created anew. */
    public static TopicTerms createdAnew(int generation) {
        return new TopicTerms(generation, Map.of());
    }

    /** Whether the topic to which this acknowledged record was sent was deleted. */
    boolean isOfDeletedTopic(SentRecord acknowledged) {
        return acknowledged.generation() != generation;
    }

    /**
     * Whether this acknowledged record may be gone by an unclean election. One that was told without an offset may not: its
     * producer has concluded from something else that it is in the log, so that must be true.
     */
    boolean mayBeGoneByElection(SentRecord acknowledged) {
        Long lastMs = uncleanMs.get(acknowledged.place().partition());
        return lastMs != null
                && acknowledged.toldMs() <= lastMs
                && acknowledged.place().hasOffset();
    }
}
