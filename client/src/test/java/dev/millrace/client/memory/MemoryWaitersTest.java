package dev.millrace.client.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.client.accumulator.Workers;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;

/** The queue for memory alone; a number stands for the memory. */
class MemoryWaitersTest {
    private final AtomicInteger memory = new AtomicInteger();
    private final AtomicInteger pressure = new AtomicInteger();
    private final List<Integer> served = new CopyOnWriteArrayList<>();
    private final MemoryWaiters waiters =
            new MemoryWaiters(this::tryReserve, this::isShort, pressure::incrementAndGet, Long.MAX_VALUE);

    @Test
    void shouldServeInOrderOfArrivalWhenMemoryComesBackInSmallPieces() throws InterruptedException {
        Workers workers = startWaiting(100, 1, 1, 30);

        giveBack(99);
        assertThat(served).as("a small request does not overtake the large one").isEmpty();
        giveBack(1);
        Workers.until("the large one is served", () -> served.size() == 1);
        giveBack(2);
        Workers.until("the small ones are served", () -> served.size() == 3);
        giveBack(30);
        workers.join();

        assertThat(served).containsExactly(100, 1, 1, 30);
        assertThat(memory).hasValue(0);
        assertThat(waiters.isEmpty()).isTrue();
    }

    @Test
    void shouldServeAllInOrderWhenEnoughForAllComesAtOnce() throws InterruptedException {
        Workers workers = startWaiting(5, 1, 7);

        giveBack(13);
        workers.join();

        assertThat(served).containsExactly(5, 1, 7);
        assertThat(memory).hasValue(0);
    }

    @Test
    void shouldTellThatThereIsPressureWhenSomeoneIsAboutToWait() throws InterruptedException {
        Workers workers = startWaiting(5);

        assertThat(pressure).hasValue(1);
        assertThat(waiters.bytesForFirst()).isEqualTo(5);
        giveBack(5);
        workers.join();
        assertThat(waiters.bytesForFirst()).isZero();
    }

    @Test
    void shouldLetTheNextGoOnWhenTheFirstGaveUp() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Workers impatient = new Workers()
                .add(1, () -> thrown.set(catchThrown(() -> waiters.await(100, 60_000, () -> true))))
                .start();
        Workers.untilWaiting(impatient.thread(0));
        Workers patient = startWaiting(10);
        giveBack(10);
        assertThat(served).isEmpty();

        impatient.thread(0).interrupt();
        impatient.join();
        patient.join();

        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        assertThat(served).containsExactly(10);
        assertThat(memory).hasValue(0);
    }

    @Test
    void shouldThrowBufferExhaustedWhenTimeRunsOut() {
        memory.set(9);

        assertThatThrownBy(() -> waiters.await(10, 1, () -> true))
                .isInstanceOf(BufferExhaustedException.class)
                .hasMessageContaining("10 bytes")
                .hasMessageContaining("1 ms");

        assertThat(memory).hasValue(9);
        assertThat(waiters.isEmpty()).isTrue();
    }

    @Test
    void shouldTryOnceWhenThereIsNoTimeToWait() throws InterruptedException {
        memory.set(10);

        boolean reserved = waiters.await(10, 0, () -> true);

        assertThat(reserved).isTrue();
        assertThat(memory).hasValue(0);
    }

    @Test
    void shouldLeaveWithoutMemoryWhenItIsNotNeededAnyMore() throws InterruptedException {
        AtomicBoolean needed = new AtomicBoolean(true);
        AtomicReference<Boolean> outcome = new AtomicReference<>();
        Workers second = startWaiting(100);
        Workers third = new Workers()
                .add(1, () -> outcome.set(waiters.await(10, 60_000, needed::get)))
                .start();
        Workers.untilWaiting(third.thread(0));

        needed.set(false);
        waiters.wakeNoLongerNeeding();
        third.join();

        assertThat(outcome.get()).isFalse();
        assertThat(served).as("neither of them").isEmpty();
        giveBack(100);
        second.join();
        assertThat(memory).hasValue(0);
    }

    @Test
    void shouldThrowWhenClosedWhileWaiting() throws InterruptedException {
        AtomicReference<Throwable> first = new AtomicReference<>();
        AtomicReference<Throwable> second = new AtomicReference<>();
        Workers workers = new Workers()
                .add(1, () -> first.set(catchThrown(() -> waiters.await(10, 60_000, () -> true))))
                .add(1, () -> second.set(catchThrown(() -> waiters.await(20, 60_000, () -> true))))
                .start();
        Workers.untilWaiting(workers.thread(0));
        Workers.untilWaiting(workers.thread(1));

        waiters.close();
        workers.join();

        assertThat(first.get()).isExactlyInstanceOf(KafkaException.class).hasMessageContaining("closed");
        assertThat(second.get()).isExactlyInstanceOf(KafkaException.class);
        assertThat(waiters.isEmpty()).isTrue();
        assertThatThrownBy(() -> waiters.await(1, 60_000, () -> true)).isExactlyInstanceOf(KafkaException.class);
    }

    /** Threads that wait one after the other for these sizes. */
    private Workers startWaiting(int... sizes) {
        Workers last = new Workers();
        List<Workers> all = new CopyOnWriteArrayList<>();
        for (int size : sizes) {
            Workers one = new Workers()
                    .add(
                            1,
                            () -> assertThat(waiters.await(size, 60_000, () -> true))
                                    .isTrue())
                    .start();
            Workers.untilWaiting(one.thread(0));
            all.add(one);
        }
        return last.add(1, () -> {
                    for (Workers one : all) {
                        one.join();
                    }
                })
                .start();
    }

    private void giveBack(int bytes) {
        memory.addAndGet(bytes);
        waiters.wakeFirst();
    }

    private boolean tryReserve(int size) {
        boolean enough = memory.getAndUpdate(free -> free >= size ? free - size : free) >= size;
        if (enough) {
            served.add(size);
        }
        return enough;
    }

    private boolean isShort() {
        return memory.get() < waiters.bytesForFirst();
    }

    private static Throwable catchThrown(Workers.Work work) {
        try {
            work.run();
            return null;
        } catch (Throwable t) { // the test checks it
            return t;
        }
    }
}
