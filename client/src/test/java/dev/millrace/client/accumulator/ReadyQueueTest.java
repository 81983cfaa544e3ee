package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The races between offering and falling asleep are in {@link ReadyQueueStressTest}. */
class ReadyQueueTest {
    private static final long NOW = 1_000;

    private final TestAccumulator parts = new TestAccumulator(1_000, 100);
    private final PartitionQueue partition = parts.queue(0);
    private final ReadyQueue ready = new ReadyQueue();
    private final AtomicInteger wakeUps = new AtomicInteger();

    @BeforeEach
    void countWakeUps() {
        ready.onWake(wakeUps::incrementAndGet);
    }

    @Test
    void shouldHandOverInOrderWhenSeveralWereOffered() {
        PartitionQueue other = parts.queue(1);

        ready.offer(partition, NOW);
        ready.offer(other, NOW);
        ready.offer(partition, NOW);

        assertThat(ready.poll()).isSameAs(partition);
        assertThat(ready.poll()).isSameAs(other);
        assertThat(ready.poll()).isSameAs(partition);
        assertThat(ready.poll()).isNull();
    }

    /** The record is in a batch already: the caller must see no error, and the I/O thread must find the batch. */
    @Test
    void shouldHaveAllPartitionsLookedAtWhenThereIsNoMemoryToNoteOne() {
        // given
        ReadyQueue withoutMemory = new ReadyQueue(new MpscUnboundedArrayQueue<>(16) {
            @Override
            public boolean offer(PartitionQueue queue) {
                throw new OutOfMemoryError("thrown on purpose");
            }
        });
        withoutMemory.onWake(wakeUps::incrementAndGet);
        assertThat(withoutMemory.trySleep(Long.MAX_VALUE)).isTrue();

        // when
        withoutMemory.offer(partition, NOW);

        // then
        assertThat(wakeUps).hasValue(1);
        assertThat(withoutMemory.trySleep(Long.MAX_VALUE)).isFalse();
        assertThat(withoutMemory.pollMissed()).isTrue();
        assertThat(withoutMemory.pollMissed()).isFalse();
        assertThat(withoutMemory.trySleep(Long.MAX_VALUE)).isTrue();
    }

    @Test
    void shouldNotWakeTheSelectorWhenTheIoThreadIsBusy() {
        ready.offer(partition, Long.MIN_VALUE);
        ready.offer(partition, NOW);

        assertThat(wakeUps).hasValue(0);
    }

    @Test
    void shouldWakeTheSelectorOnceWhenSeveralAreOfferedToASleeper() {
        assertThat(ready.trySleep(Long.MAX_VALUE)).isTrue();

        ready.offer(partition, NOW);
        ready.offer(partition, Long.MIN_VALUE);
        ready.offer(partition, NOW);

        assertThat(wakeUps).hasValue(1);
    }

    @Test
    void shouldNotWakeTheSelectorWhenItWakesInTimeByItself() {
        assertThat(ready.trySleep(NOW)).isTrue();

        ready.offer(partition, NOW);
        ready.offer(partition, NOW + 5);

        assertThat(wakeUps).hasValue(0);
        ready.offer(partition, NOW - 1);
        assertThat(wakeUps).hasValue(1);
    }

    @Test
    void shouldNotFallAsleepWhenSomethingIsThere() {
        ready.offer(partition, NOW);

        assertThat(ready.trySleep(Long.MAX_VALUE)).isFalse();

        ready.offer(partition, NOW);
        assertThat(wakeUps).as("it stayed awake").hasValue(0);
    }

    @Test
    void shouldNotWakeTheSelectorWhenItIsAwakeAgain() {
        assertThat(ready.trySleep(Long.MAX_VALUE)).isTrue();
        ready.markAwake();

        ready.offer(partition, Long.MIN_VALUE);

        assertThat(wakeUps).hasValue(0);
    }

    @Test
    void shouldWakeTheSelectorWhenASleeperIsWantedWithoutAPartition() {
        assertThat(ready.trySleep(Long.MAX_VALUE)).isTrue();

        ready.wake();
        ready.wake();

        assertThat(wakeUps).hasValue(1);
        assertThat(ready.poll()).isNull();
    }

    @Test
    void shouldNotFallAsleepOnceWhenItWasWantedWhileBusy() {
        ready.wake();

        assertThat(ready.trySleep(Long.MAX_VALUE)).isFalse();
        assertThat(ready.trySleep(Long.MAX_VALUE)).isTrue();
        assertThat(wakeUps).as("nothing had to be interrupted").hasValue(0);
    }

    @Test
    void shouldBeLookedAtWhenItLingersNoLongerThanTheSleeperSleeps() throws InterruptedException {
        parts.ready.onWake(wakeUps::incrementAndGet);
        assertThat(parts.ready.trySleep(parts.clockMs.get() + TestAccumulator.LINGER_MS))
                .isTrue();

        RecordFuture first = parts.append("t", 0, TestRecord.ofSize(1), 0);

        assertThat(first).isNotNull();
        assertThat(wakeUps).as("it will wake when the batch is due").hasValue(0);
        assertThat(parts.ready.poll().oldestCreatedMs()).isEqualTo(parts.clockMs.get());
    }

    @Test
    void shouldWakeTheSelectorWhenABatchIsFullBeforeItLingered() throws InterruptedException {
        parts.ready.onWake(wakeUps::incrementAndGet);
        RecordFuture first = parts.append("t", 0, TestRecord.ofSize(1), 0);
        assertThat(parts.ready.poll()).isNotNull();
        assertThat(parts.ready.trySleep(parts.clockMs.get() + TestAccumulator.LINGER_MS))
                .isTrue();

        RecordFuture second = parts.append("t", 0, TestRecord.ofSize(30), 0);

        assertThat(first).isNotNull();
        assertThat(second).isNotNull();
        assertThat(wakeUps).as("for the finished batch, not for the opened one").hasValue(1);
    }
}
