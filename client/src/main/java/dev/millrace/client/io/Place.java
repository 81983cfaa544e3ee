package dev.millrace.client.io;

/** Where a partition waits. {@link PartitionPlaces} decides it at each visit. */
enum Place {
    /** It has nothing to send, or may not until an answer comes or its transaction has it; it is visited then. */
    NOWHERE,

    /** In the lane of its leader, or of partitions without one, until its turn comes. */
    LANE,

    /** As {@link #LANE}; its open batch is sent although it has not waited for {@code linger.ms}. */
    TAKEN_ALONG,

    /** Beside the lane of its leader, until its open batch has waited for {@code linger.ms}. */
    LINGERING,

    /** Until its leader can be asked what it remembers of the producer. */
    ASKING,

    /** Until its leader, which has refused a batch, may be asked again. */
    BACKING_OFF;

    boolean isInLane() {
        return this == LANE || this == TAKEN_ALONG;
    }
}
