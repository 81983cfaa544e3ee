package dev.millrace.mirror.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.fetch.FakeFetch;
import dev.millrace.mirror.fetch.FetchedBatches;
import dev.millrace.mirror.pass.BatchMaker;
import dev.millrace.mirror.status.MirrorObserver;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class CopyWorkerTest {
    private static final TopicPartition TP = new TopicPartition("orders", 0);
    private static final long TIMEOUT_S = 60;

    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final CopyWorker worker = new CopyWorker("worker", failures::add, new MirrorObserver() {});

    @Test
    void shouldTellAFailureAndGoOnWithWhatWasGivenLater() throws Exception {
        BlockingQueue<String> done = new LinkedBlockingQueue<>();
        IllegalStateException failure = new IllegalStateException("for the test");

        worker.execute(() -> {
            throw failure;
        });
        worker.execute(() -> done.add("later"));

        assertThat(failures.poll(TIMEOUT_S, TimeUnit.SECONDS)).isSameAs(failure);
        assertThat(done.poll(TIMEOUT_S, TimeUnit.SECONDS)).isEqualTo("later");
        worker.interrupt();
    }

    @Test
    void shouldTakeNoInterruptAtTheEndForAFailure() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        worker.execute(() -> {
            started.countDown();
            try {
                never.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(started.await(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();

        worker.interrupt();
        worker.awaitEnd(System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S));

        assertThat(failures).isEmpty();
    }

    @Test
    void shouldReleaseWhatItGetsAfterItsEnd() {
        FakeFetch fetch = new FakeFetch();
        FetchedBatches fetched = fetch.fetched(
                TP, 0, BatchMaker.join(List.of(new BatchMaker(0).records(1).make())));
        worker.interrupt();

        worker.copy(
                new PartitionCopy(TP, 0, Optional.empty(), true, false, partition -> {
                    throw new AssertionError("nothing is copied");
                }),
                fetched,
                new WaitingBatches(bytes -> true, () -> {}),
                new InFlightMemory(1).new Share());

        assertThat(fetch.isAllReleased()).isTrue();
        assertThat(worker.execute(() -> {})).isFalse();
    }
}
