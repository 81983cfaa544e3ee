package dev.millrace.client.io;

/** Where a partition waits. {@link PartitionPlaces} decides this at each visit. */
enum Place {
    /** It has nothing to send, or must wait for an answer or until its transaction has it, and is visited then. */
    NOWHERE,

    /** It waits in the lane of its leader, or of partitions without one, until its turn comes. */
    LANE,

    /** It waits as in {@link #LANE}; its open batch is sent although it has not waited for {@code linger.ms}. */
    TAKEN_ALONG,

    /** It waits beside the lane of its leader until its open batch has waited for {@code linger.ms}. */
    LINGERING,

    /** It waits until its leader can be asked what it remembers of the producer. */
    ASKING,

    /** It waits until its leader, which has refused a batch, may be asked again. */
    BACKING_OFF;

    boolean isInLane() {
        return this == LANE || this == TAKEN_ALONG;
    }
}
