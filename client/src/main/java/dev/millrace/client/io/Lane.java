package dev.millrace.client.io;

import java.util.ArrayDeque;

/**
 * The partitions of one leader, or of none, that have something to send: those that the next requests serve in turn,
 * and those whose open batch still waits for records. {@link PartitionPlaces} adds and removes them.
 *
 * <p><b>Threads:</b> the I/O thread.
 */
final class Lane {
    /** The leader, or {@code TopicImage.NO_LEADER}. */
    final int node;

    /** Partitions served in turn, so that none is starved (KAFKA-13834). */
    final ArrayDeque<PartitionState> waiting = new ArrayDeque<>();

    /** The times at which each open batch has waited for {@code linger.ms}. */
    final Deadlines lingering = new Deadlines();

    /** Whether a partition waits here because its batch has waited for {@code linger.ms}. */
    boolean isLingerOver;

    Lane(int node) {
        this.node = node;
    }
}
