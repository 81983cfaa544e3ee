package dev.millrace.mirror.member;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TransactionPaceTest {
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MB = 1 << 20;

    private final TransactionPace pace = new TransactionPace();

    @Test
    void shouldKeepATransactionOpenFiveTimesAsLongAsItsEndTakes() {
        pace.onCommitted(1, 500 * MS, 240 * MS);

        assertThat(pace.isDue(1_199 * MS, 0)).isFalse();
        assertThat(pace.isDue(1_200 * MS, 0)).isTrue();
    }

    @Test
    void shouldEndATransactionAfterHalfASecondWhereThatCostsLittleAndAfterTwoWhateverItCosts() {
        pace.onCommitted(1, 500 * MS, 3 * MS);
        assertThat(pace.isDue(499 * MS, 0)).isFalse();
        assertThat(pace.isDue(500 * MS, 0)).isTrue();

        pace.onCommitted(1, 500 * MS, 5_000 * MS);
        assertThat(pace.isDue(1_999 * MS, 0)).isFalse();
        assertThat(pace.isDue(2_000 * MS, 0)).isTrue();
    }

    @Test
    void shouldEndATransactionThatHasWrittenMuch() {
        assertThat(pace.isDue(0, 64 * MB - 1)).isFalse();
        assertThat(pace.isDue(0, 64 * MB)).isTrue();
    }

    @Test
    void shouldHaveInFlightWhatTheLinkCarriesInTwoSeconds() {
        pace.onCommitted(12 * MB, 1_000 * MS, 10 * MS);
        assertThat(pace.inFlightBytes()).isEqualTo(24 * MB);

        pace.onCommitted(12 * MB, 12_000 * MS, 10 * MS);
        assertThat(pace.inFlightBytes()).isEqualTo(2 * MB);
    }

    @Test
    void shouldNotTakeASourceWithLittleToSendForASlowLink() {
        pace.onCommitted(12 * MB, 1_000 * MS, 10 * MS);

        pace.onCommitted(1_000, 1_000 * MS, 10 * MS);

        assertThat(pace.inFlightBytes()).isEqualTo(24 * MB);
    }

    @Test
    void shouldHaveLessInFlightAfterEachTransactionThatWasAborted() {
        pace.onCommitted(12 * MB, 1_000 * MS, 10 * MS);

        pace.onAborted();
        assertThat(pace.inFlightBytes()).isEqualTo(MB / 16);
        pace.onAborted();
        assertThat(pace.inFlightBytes()).isEqualTo(MB / 128);
        for (int i = 0; i < 10; i++) {
            pace.onAborted();
        }
        assertThat(pace.inFlightBytes()).isEqualTo(MB / 256);
    }

    /** Batches of a record each, as {@code --mode batches} passes them on, over a round trip of 100 ms. */
    @Test
    void shouldCommitThoughOnePartitionHasTheSmallestBatchesOverALongLink() {
        long bytesPerSecond = 5 * 75 * 10;
        long timeoutNanos = 15_000 * MS;
        int aborted = 0;
        for (int transaction = 0; transaction < 10; transaction++) {
            long bytes = pace.inFlightBytes();
            long writtenNanos = TimeUnit.SECONDS.toNanos(bytes) / bytesPerSecond;
            if (writtenNanos > timeoutNanos) {
                pace.onAborted();
                aborted++;
            } else {
                pace.onCommitted(bytes, writtenNanos, 100 * MS);
            }
        }

        assertThat(aborted).isLessThanOrEqualTo(1);
        assertThat(pace.inFlightBytes()).isEqualTo(2 * bytesPerSecond);
    }

    @Test
    void shouldSoonHaveAllInFlightThatAFastLinkCarries() {
        long roundTripNanos = 50 * MS;
        for (int transaction = 0; transaction < 5; transaction++) {
            long bytes = pace.inFlightBytes() * (500 * MS / roundTripNanos);
            pace.onCommitted(bytes, 500 * MS + roundTripNanos, roundTripNanos);
        }

        assertThat(pace.inFlightBytes()).isGreaterThan(64 * MB);
    }
}
