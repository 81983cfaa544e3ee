package dev.millrace.mirror.member;

import dev.millrace.mirror.copy.PartitionCopier;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.Consumer;

/**
 * Polls a member's consumer as often as its copier needs that. A consumer whose partitions are all paused serves the
 * group only, and needs to be polled seldom: its heartbeats have a thread of their own.
 *
 * <p><b>Threads:</b> the member's thread.
 */
final class ConsumerPolls {
    private final Consumer<byte[], byte[]> consumer;
    private final PartitionCopier copier;
    private long polledNanos;
    private boolean hasPolled;

    ConsumerPolls(Consumer<byte[], byte[]> consumer, PartitionCopier copier) {
        this.consumer = consumer;
        this.copier = copier;
    }

    /** Forwards what a poll returns; if no poll is needed yet, waits as long as one would at most. */
    void next() {
        Duration timeout = copier.pollTimeout();
        if (hasPolled && System.nanoTime() - polledNanos < copier.pollPause().toNanos()) {
            LockSupport.parkNanos(timeout.toNanos());
        } else {
            copier.forward(consumer.poll(timeout));
            polledNanos = System.nanoTime();
            hasPolled = true;
        }
    }
}
