package dev.millrace.mirror.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class FetchPartitionTest {
    private static final int ROUNDS = 20_000;

    private final AtomicInteger resumes = new AtomicInteger();
    private final FetchPartition partition =
            new FetchPartition(new TopicPartition("t", 0), 0, -1, p -> resumes.incrementAndGet());

    @Test
    void shouldPauseAtItsLimitAndResumeAtHalfOfWhatItKept() {
        partition.onHandedOut(600);
        partition.pauseAt(1000);
        assertThat(partition.isPaused()).isFalse();
        partition.onHandedOut(600);
        partition.pauseAt(1000);
        assertThat(partition.isPaused()).isTrue();

        partition.onReleased(500);
        assertThat(partition.isPaused()).isTrue();
        partition.onReleased(100);
        assertThat(partition.isPaused()).isFalse();
        partition.onReleased(600);

        assertThat(resumes).hasValue(1);
    }

    @Test
    void shouldNeverStayPausedWhenAllIsReleasedWhileItIsPaused() throws Exception {
        ConcurrentLinkedQueue<Integer> handedOut = new ConcurrentLinkedQueue<>();
        CyclicBarrier start = new CyclicBarrier(2);
        CyclicBarrier end = new CyclicBarrier(2);
        Thread worker = new Thread(() -> {
            try {
                for (int i = 0; i < ROUNDS; i++) {
                    start.await();
                    partition.onReleased(handedOut.remove());
                    end.await();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        worker.start();
        for (int i = 0; i < ROUNDS; i++) {
            partition.onHandedOut(100);
            handedOut.add(100);
            start.await();
            partition.pauseAt(50);
            end.await();
            assertThat(partition.isPaused()).as("round %d", i).isFalse();
        }
        worker.join();
    }
}
