package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PreparedRecordsTest {
    private static final int PARTITIONS = 12;

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 12})
    void shouldGiveEachThreadPartitionsOfItsOwn(int threads) {
        PreparedRecords prepared = prepared(threads, threads);

        assertThat(IntStream.range(0, threads)
                        .boxed()
                        .flatMap(thread ->
                                IntStream.of(partitions(prepared, thread)).boxed()))
                .hasSize(PARTITIONS)
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldLetEachThreadNameAllPartitions() {
        PreparedRecords prepared = prepared(3, 1);

        for (int thread = 0; thread < 3; thread++) {
            assertThat(partitions(prepared, thread)).hasSize(PARTITIONS);
        }
    }

    @Test
    void shouldShareValuesThatWouldFillTheHeap() {
        PreparedRecords prepared = prepared(100, 1, 1 << 20);

        assertThat(IntStream.range(0, 100)
                        .boxed()
                        .flatMap(thread -> prepared.forThread(thread).stream())
                        .map(ProducerRecord::value)
                        .distinct())
                .hasSize(64)
                .allSatisfy(value -> assertThat(value).hasSize(1 << 20));
    }

    @Test
    void shouldNotShareSmallValues() {
        PreparedRecords prepared = prepared(3, 1);

        assertThat(IntStream.range(0, 3)
                        .boxed()
                        .flatMap(thread -> prepared.forThread(thread).stream())
                        .map(ProducerRecord::value))
                .doesNotHaveDuplicates()
                .hasSizeGreaterThan(4_000);
    }

    private static PreparedRecords prepared(int threads, int step) {
        return prepared(threads, step, 10);
    }

    private static PreparedRecords prepared(int threads, int step, int size) {
        return new PreparedRecords(new RacerArguments("topic=race", "partition_choice=partition")
                .set("size", size)
                .set("partitions", PARTITIONS)
                .set("threads", threads)
                .set("step", step));
    }

    private static int[] partitions(PreparedRecords prepared, int thread) {
        return prepared.forThread(thread).stream()
                .mapToInt(record -> record.partition())
                .distinct()
                .toArray();
    }
}
