package dev.millrace.client.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Workers;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;

/** What many threads do to it is in {@link BufferPoolStressTest}, the order of waiters in {@link MemoryWaitersTest}. */
class BufferPoolTest {
    private final BufferPool pool = new BufferPool(1_000, 100, () -> {});

    @Test
    void shouldGiveBatchSizeWhenLessIsAskedFor() throws InterruptedException {
        byte[] buffer = acquire(1);

        assertThat(buffer).hasSize(100);
        assertThat(pool.available()).isEqualTo(900);
        assertThat(pool.total()).isEqualTo(1_000);
    }

    @Test
    void shouldGiveTheSameBufferAgainWhenMoreThanBatchSizeIsAskedFor() throws InterruptedException {
        byte[] buffer = acquire(101);
        assertThat(buffer).as("in quarters of batch.size").hasSize(125);
        assertThat(pool.available()).isEqualTo(875);
        pool.release(buffer);

        assertThat(acquire(120)).isSameAs(buffer);
    }

    @Test
    void shouldGiveAllMemoryIfThatIsAskedFor() throws InterruptedException {
        assertThat(acquire(1_000)).hasSize(1_000);
        assertThat(pool.available()).isZero();
    }

    @Test
    void shouldGiveTheSameBufferAgainWhenItCameBack() throws InterruptedException {
        byte[] buffer = acquire(1);
        pool.release(buffer);

        byte[] next = acquire(50);

        assertThat(next).isSameAs(buffer);
    }

    @Test
    void shouldGiveUpKeptBuffersWhenALargeOneNeedsTheirMemory() throws InterruptedException {
        byte[][] buffers = new byte[10][];
        for (int i = 0; i < 10; i++) {
            buffers[i] = acquire(1);
        }
        for (byte[] buffer : buffers) {
            pool.release(buffer);
        }

        byte[] large = acquire(850);

        assertThat(large).hasSize(850);
        assertThat(pool.available()).isEqualTo(150);
        byte[] small = acquire(1);
        assertThat(small).as("of the ten, one is still kept").isSameAs(buffers[9]);
    }

    @Test
    void shouldThrowBufferExhaustedWhenMemoryIsUsedUp() throws InterruptedException {
        byte[] all = acquire(1_000);

        assertThatThrownBy(() -> pool.acquire(1, 0, () -> true)).isInstanceOf(BufferExhaustedException.class);

        assertThat(pool.isShort()).as("nobody waits any more").isFalse();
        pool.release(all);
        assertThat(pool.available()).isEqualTo(1_000);
    }

    @Test
    void shouldSayItIsShortWhenTheFirstWaiterWantsMoreThanThereIs() throws InterruptedException {
        byte[] most = acquire(800);
        Workers workers = new Workers()
                .add(1, () -> pool.release(pool.acquire(300, 60_000, () -> true)))
                .start();
        Workers.untilWaiting(workers.thread(0));
        assertThat(pool.isShort()).isTrue();

        pool.release(most);

        assertThat(pool.isShort()).isFalse();
        workers.join();
        assertThat(pool.available()).isEqualTo(1_000);
    }

    @Test
    void shouldQueueUpBehindWaitersWhenThereWouldBeEnoughForItself() throws InterruptedException {
        byte[] most = acquire(800);
        Workers workers = new Workers()
                .add(1, () -> pool.release(pool.acquire(300, 60_000, () -> true)))
                .start();
        Workers.untilWaiting(workers.thread(0));

        assertThatThrownBy(() -> pool.acquire(100, 0, () -> true)).isInstanceOf(BufferExhaustedException.class);

        pool.release(most);
        workers.join();
        assertThat(pool.available()).isEqualTo(1_000);
    }

    @Test
    void shouldGiveNullWhenMemoryIsNotNeededAnyMore() throws InterruptedException {
        byte[] all = acquire(1_000);
        AtomicBoolean needed = new AtomicBoolean(true);
        Workers workers = new Workers()
                .add(1, () -> assertThat(pool.acquire(10, 60_000, needed::get)).isNull())
                .start();
        Workers.untilWaiting(workers.thread(0));

        needed.set(false);
        pool.recheckWaiters();
        workers.join();

        pool.release(all);
        assertThat(pool.available()).isEqualTo(1_000);
    }

    @Test
    void shouldLoseNoMemoryWhenTheWaiterIsInterrupted() throws InterruptedException {
        byte[] all = acquire(1_000);
        Workers workers = new Workers()
                .add(
                        1,
                        () -> assertThatThrownBy(() -> pool.acquire(10, 60_000, () -> true))
                                .isInstanceOf(InterruptedException.class))
                .start();
        Workers.untilWaiting(workers.thread(0));

        workers.thread(0).interrupt();
        workers.join();

        pool.release(all);
        assertThat(pool.available()).isEqualTo(1_000);
        assertThat(acquire(1)).isNotNull();
    }

    @Test
    void shouldWakeWaitersWithAnExceptionWhenClosed() throws InterruptedException {
        byte[] all = acquire(1_000);
        Workers workers = new Workers()
                .add(
                        2,
                        () -> assertThatThrownBy(() -> pool.acquire(10, 60_000, () -> true))
                                .isExactlyInstanceOf(KafkaException.class))
                .start();
        Workers.untilWaiting(workers.thread(0));
        Workers.untilWaiting(workers.thread(1));

        pool.close();
        workers.join();

        pool.release(all);
        assertThat(pool.available()).isEqualTo(1_000);
    }

    private byte[] acquire(int size) throws InterruptedException {
        return pool.acquire(size, 0, () -> true);
    }
}
