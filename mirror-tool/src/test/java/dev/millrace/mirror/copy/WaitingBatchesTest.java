package dev.millrace.mirror.copy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WaitingBatchesTest {
    private final AtomicInteger told = new AtomicInteger();
    private final AtomicBoolean isRoom = new AtomicBoolean(true);
    private final WaitingBatches batches = new WaitingBatches(bytes -> isRoom.get(), told::incrementAndGet);

    @Test
    void shouldTellOfWorkBeforeItIsDone() {
        batches.add(1, () -> {
            assertThat(told).hasValue(1);
            assertThat(batches.isBusy()).isTrue();
            return true;
        });

        assertThat(batches.isBusy()).isFalse();
    }

    @Test
    void shouldTellOnceUntilItIsVisited() {
        batches.add(1, () -> true);
        batches.add(1, () -> true);
        assertThat(told).hasValue(1);

        batches.beginVisit();
        batches.add(1, () -> true);
        assertThat(told).hasValue(2);
    }

    @Test
    void shouldTellAfterAVisitDuringTheWork() {
        batches.add(1, () -> {
            batches.beginVisit();
            batches.endVisit(false);
            return true;
        });

        assertThat(told).hasValue(2);
    }

    @Test
    void shouldStayBusyWhileAStepWaits() {
        isRoom.set(false);
        batches.add(1, () -> true);

        batches.beginVisit();
        batches.endVisit(batches.isBusy());

        assertThat(told).hasValue(2);
    }

    /** Each step is the last one for a while, so nothing later makes up for a visit that it did not get. */
    @Test
    void shouldLetNoWorkGoUnseen() throws InterruptedException {
        int rounds = 50_000;
        Queue<Boolean> visits = new ConcurrentLinkedQueue<>();
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        WaitingBatches attacked = new WaitingBatches(bytes -> true, () -> visits.add(true));
        Thread worker = new Thread(() -> {
            for (int round = 1; round <= rounds; round++) {
                while (begun.get() < round) {
                    Thread.onSpinWait();
                }
                attacked.add(1, () -> {
                    done.setPlain(done.getPlain() + 1);
                    return true;
                });
                ended.set(round);
            }
        });
        worker.setDaemon(true); // it would spin for ever after a failure
        worker.start();
        for (int round = 1; round <= rounds; round++) {
            begun.set(round);
            int seen = 0;
            boolean isOver = false;
            while (!isOver || !visits.isEmpty()) {
                isOver = ended.get() == round;
                if (visits.poll() != null) {
                    attacked.beginVisit();
                    seen = done.getPlain();
                    attacked.endVisit(attacked.isBusy());
                }
            }
            assertThat(seen).isEqualTo(round);
        }
        worker.join();
    }
}
