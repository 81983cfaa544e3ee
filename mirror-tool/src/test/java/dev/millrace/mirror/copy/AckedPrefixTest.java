package dev.millrace.mirror.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.pass.AckListener;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.text.MirrorException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class AckedPrefixTest {
    private static final AckListener IGNORED = (records, bytes, timestamp, ackedAtMs) -> {};
    private static final RecordMetadata ACKED = new RecordMetadata(new TopicPartition("orders", 3), 0, 0, -1, 0, 0);

    private final List<MirrorException> failures = Collections.synchronizedList(new ArrayList<>());
    private final AckedPrefix prefix =
            new AckedPrefix(new TopicPartition("orders", 3), false, AckedRuns.IGNORED, failures::add);

    @Test
    void shouldHaveNoPositionBeforeTheFirstAcknowledgement() {
        prefix.addPage(1, next(8)).add(7);

        prefix.advance(IGNORED);

        assertThat(prefix.position()).isNull();
        assertThat(prefix.outstanding()).isEqualTo(1);
    }

    @Test
    void shouldCountTheBytesInFlightOfPagesThatAreSentInParts() {
        AckedPrefix.Page page = prefix.addPage(4, next(4));
        Callback first = page.add(0);
        Callback second = page.add(1);
        page.onSent(2_000, 0);
        assertThat(prefix.outstandingBytes()).isEqualTo(2_000);

        first.onCompletion(ACKED, null);
        prefix.advance(IGNORED);
        assertThat(prefix.outstandingBytes()).isEqualTo(1_000);
        second.onCompletion(ACKED, null);
        prefix.advance(IGNORED);
        assertThat(prefix.outstandingBytes()).isZero();

        Callback third = page.add(2);
        Callback fourth = page.add(3);
        page.onSent(20, 0);
        third.onCompletion(ACKED, null);
        prefix.advance(IGNORED);
        assertThat(prefix.outstandingBytes()).isBetween(0L, 20L);
        fourth.onCompletion(ACKED, null);
        prefix.advance(IGNORED);
        assertThat(prefix.outstandingBytes()).isZero();
    }

    @Test
    void shouldTellWhereRecordsAreThoseTogetherThatFollowOneAnother() {
        List<String> told = new ArrayList<>();
        TopicPartition partition = new TopicPartition("orders", 3);
        AckedPrefix telling = new AckedPrefix(
                partition,
                false,
                (source, target, count) -> told.add(source + "=" + target + "*" + count),
                failures::add);
        AckedPrefix.Page page = telling.addPage(6, next(30));
        long[] sources = {10, 11, 12, 20, 21, 22};
        long[] targets = {5, 6, 7, 8, 9, 15};
        List<Callback> callbacks = Arrays.stream(sources).mapToObj(page::add).toList();

        for (int i = 0; i < 5; i++) {
            callbacks.get(i).onCompletion(new RecordMetadata(partition, targets[i], 0, -1, 0, 0), null);
        }
        telling.advance(IGNORED);
        callbacks.get(5).onCompletion(new RecordMetadata(partition, targets[5], 0, -1, 0, 0), null);
        telling.advance(IGNORED);

        assertThat(told).containsExactly("10=5*3", "20=8*2", "22=15*1");
    }

    @Test
    void shouldStayBeforeTheFirstGap() {
        AckedPrefix.Page page = prefix.addPage(3, next(13));
        Callback first = page.add(10);
        Callback second = page.add(11);
        Callback third = page.add(12);

        acknowledge(third);
        acknowledge(first);

        assertThat(prefix.advance(IGNORED)).isEqualTo(1);
        assertThat(prefix.position().offset()).isEqualTo(11);
        acknowledge(second);
        assertThat(prefix.advance(IGNORED)).isEqualTo(2);
        assertThat(prefix.position().offset()).isEqualTo(13);
    }

    @Test
    void shouldSkipWhatThePollSkippedWhenItsLastRecordIsAcknowledged() {
        AckedPrefix.Page page = prefix.addPage(2, next(50)); // Offsets 21 to 49 are markers of transactions, say.
        Callback first = page.add(10);
        Callback second = page.add(20);

        acknowledge(first);
        prefix.advance(IGNORED);
        assertThat(prefix.position().offset()).isEqualTo(11);

        acknowledge(second);
        prefix.advance(IGNORED);
        assertThat(prefix.position().offset()).isEqualTo(50);
    }

    @Test
    void shouldNotPassRecordsThatWerePolledButNeverSent() {
        AckedPrefix.Page page = prefix.addPage(3, next(3));

        acknowledge(page.add(0));
        prefix.advance(IGNORED);

        assertThat(prefix.position().offset()).isEqualTo(1);
        assertThat(prefix.outstanding()).isZero();
    }

    @Test
    void shouldNameAndNeverPassARecordThatCouldNotBeWritten() {
        AckedPrefix.Page page = prefix.addPage(3, next(13));
        acknowledge(page.add(10));
        page.add(11).onCompletion(null, new RecordTooLargeException("too large"));
        acknowledge(page.add(12));

        prefix.advance(IGNORED);

        assertThat(prefix.isAwaited()).isFalse();
        assertThat(prefix.position().offset()).isEqualTo(11);
        assertThat(failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure.getMessage())
                        .contains("orders partition 3 offset 11")
                        .contains("too large"));
    }

    @Test
    void shouldBeAwaitedUntilAllRecordsBeforeTheOneThatFailedAreAcknowledged() {
        AckedPrefix.Page page = prefix.addPage(4, next(14));
        Callback first = page.add(10);
        Callback second = page.add(11);
        page.add(12).onCompletion(null, new RecordTooLargeException("too large"));
        page.add(13);

        acknowledge(second);
        prefix.advance(IGNORED);
        assertThat(prefix.isAwaited()).isTrue();

        acknowledge(first);
        prefix.advance(IGNORED);
        assertThat(prefix.isAwaited()).isFalse();
        assertThat(prefix.position().offset()).isEqualTo(12);
    }

    @Test
    void shouldTellNobodyOfFailuresWhenItIsGivenUp() {
        AckedPrefix.Page page = prefix.addPage(1, next(11));

        prefix.giveUp();
        page.add(10).onCompletion(null, new RecordTooLargeException("too large"));
        prefix.advance(IGNORED);

        assertThat(failures).isEmpty();
        assertThat(prefix.isAwaited()).isFalse();
        assertThat(prefix.position()).isNull();
    }

    @RepeatedTest(50)
    void shouldAgreeWithAModelWhateverTheOrderOfAcknowledgements() {
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        Random random = new Random(seed);
        List<Long> offsets = new ArrayList<>();
        List<Long> nexts = new ArrayList<>(); // For each offset, the position once it and all before are acknowledged.
        List<Boolean> acked = new ArrayList<>();
        List<Runnable> outstanding = new ArrayList<>();
        long offset = random.nextInt(1000);
        for (int poll = 0; poll < 40; poll++) {
            int size = 1 + random.nextInt(20);
            long[] polled = new long[size];
            for (int i = 0; i < size; i++) {
                polled[i] = offset;
                offset += 1 + (random.nextInt(5) == 0 ? random.nextInt(100) : 0);
            }
            AckedPrefix.Page page = prefix.addPage(size, next(offset));
            for (int i = 0; i < size; i++) {
                int index = offsets.size();
                offsets.add(polled[i]);
                nexts.add(i == size - 1 ? offset : polled[i] + 1);
                acked.add(false);
                Callback callback = page.add(polled[i]);
                outstanding.add(() -> {
                    acknowledge(callback);
                    acked.set(index, true);
                });
            }
            Collections.shuffle(outstanding, random);
            for (int i = random.nextInt(outstanding.size() + 1); i > 0; i--) {
                outstanding.remove(outstanding.size() - 1).run();
            }

            prefix.advance(IGNORED);

            int contiguous = acked.contains(false) ? acked.indexOf(false) : acked.size();
            assertThat(prefix.outstanding()).as("seed %d", seed).isEqualTo(offsets.size() - contiguous);
            assertThat(prefix.position())
                    .as("seed %d", seed)
                    .isEqualTo(contiguous == 0 ? null : next(nexts.get(contiguous - 1)));
        }
    }

    @Test
    void shouldComeToTheEndWhileManyThreadsAcknowledge() throws Exception {
        int records = 100_000;
        int threads = 4;
        AckedPrefix.Page page = prefix.addPage(records, next(records));
        List<Callback> callbacks = new ArrayList<>();
        for (int i = 0; i < records; i++) {
            callbacks.add(page.add(i));
        }
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        for (int t = 0; t < threads; t++) {
            int first = t;
            executor.execute(() -> {
                for (int i = first; i < records; i += threads) {
                    acknowledge(callbacks.get(i));
                }
            });
        }
        executor.shutdown();

        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (prefix.outstanding() > 0 && System.nanoTime() < deadline) {
            prefix.advance(IGNORED);
        }

        assertThat(prefix.outstanding()).isZero();
        assertThat(prefix.position().offset()).isEqualTo(records);
        assertThat(executor.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }

    private static void acknowledge(Callback callback) {
        callback.onCompletion(null, null);
    }

    private static OffsetAndMetadata next(long offset) {
        return new OffsetAndMetadata(offset);
    }
}
