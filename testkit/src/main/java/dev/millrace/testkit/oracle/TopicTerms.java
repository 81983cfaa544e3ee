package dev.millrace.testkit.oracle;

/**
 * What may be expected of a topic.
 *
 * @param keepsAcknowledged false if Kafka itself may lose acknowledged records there, because a replica may lead that is
 *     not in sync: then what is missing, twice or at another offset is only counted
 * @param generation the number of the topic of this name that exists now; records that were sent to an earlier one may
 *     be gone
 */
public record TopicTerms(boolean keepsAcknowledged, int generation) {
    /** A topic that keeps what it acknowledges, and is never deleted. */
    public static TopicTerms kept() {
        return new TopicTerms(true, 0);
    }

    /** A topic with {@code unclean.leader.election.enable=true}. */
    public static TopicTerms mayLose() {
        return new TopicTerms(false, 0);
    }

    /** A topic that was created anew. */
    public static TopicTerms createdAnew(int generation) {
        return new TopicTerms(true, generation);
    }
}
