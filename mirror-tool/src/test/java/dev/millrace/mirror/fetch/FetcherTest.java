package dev.millrace.mirror.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class FetcherTest {
    @Test
    void shouldTellTheEndOfItsThreadAsAFailureThatIsNotTriedAgain() throws Exception {
        CompletableFuture<Throwable> told = new CompletableFuture<>();
        TimeoutException cause = new TimeoutException("for the test");
        FetchSink sink = new FetchSink() {
            @Override
            public void onFetched(FetchedBatches fetched) {}

            @Override
            public void onOffsetReset(TopicPartition partition, long from, long to, String reason) {}

            @Override
            public void onFailure(TopicPartition partitionOrNull, Throwable failure) {
                told.complete(failure);
            }
        };

        try (Fetcher fetcher = FakeFetch.fetcher(sink, () -> {
            throw cause;
        })) {
            fetcher.start();

            assertThat(told.get(60, TimeUnit.SECONDS))
                    .isNotInstanceOf(RetriableException.class)
                    .hasCause(cause);
        }
    }
}
