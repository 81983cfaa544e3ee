package dev.millrace.client;

import dev.millrace.client.metadata.ClusterImage;
import dev.millrace.client.metadata.TopicImage;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Partitions for the keyless records of one topic: a thread stays on one partition for about a batch's worth of bytes, then
 * moves to a random other one (KIP-480, KIP-794). Threads are spread over a few stripes, so that they neither all meet
 * in one batch nor open a batch each.
 *
 * <p><b>Threads:</b> any. Two threads of one stripe may both move on; that costs evenness a batch, and nothing else.
 * <p><b>Ordering:</b> none; stripes are opaque words.
 */
final class StickyPartitions {
    private static final VarHandle STRIPE = MethodHandles.arrayElementVarHandle(long[].class);

    /** Longs between two stripes: two cache lines, as processors fetch them in pairs. */
    private static final int STRIDE = 16;

    private static final int STRIPES =
            Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors()) * 2 - 1);

    /** Each {@code partition(32) | bytes left(32)}; no bytes left means "choose anew". */
    private final long[] stripes = new long[STRIPES * STRIDE];

    private final int bytesPerTurn;

    /** Gives a partition {@code bytesPerTurn} before the next is chosen. */
    StickyPartitions(int bytesPerTurn) {
        this.bytesPerTurn = bytesPerTurn;
    }

    int next(ClusterImage image, TopicImage topic, int recordSize) {
        int stripe = (int) (Thread.currentThread().getId() & (STRIPES - 1)) * STRIDE;
        long seen = (long) STRIPE.getOpaque(stripes, stripe);
        int partition = (int) (seen >>> 32);
        int left = (int) seen;
        if (left <= 0 || partition >= topic.partitions()) {
            partition = randomAvailable(image, topic);
            left = bytesPerTurn;
        }
        STRIPE.setOpaque(stripes, stripe, (long) partition << 32 | Math.max(0, left - recordSize));
        return partition;
    }

    /** A partition with a leader if there is one. */
    private static int randomAvailable(ClusterImage image, TopicImage topic) {
        int start = ThreadLocalRandom.current().nextInt(topic.partitions());
        for (int i = 0; i < topic.partitions(); i++) {
            int partition = (start + i) % topic.partitions();
            if (topic.leader(partition) != TopicImage.NO_LEADER && image.node(topic.leader(partition)) != null) {
                return partition;
            }
        }
        return start;
    }
}
