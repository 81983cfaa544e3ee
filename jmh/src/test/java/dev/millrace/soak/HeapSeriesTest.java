package dev.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HeapSeriesTest {
    @Test
    void shouldNotTakeForGrowthWhatIsInUseForAMoment() {
        assertThat(growth(100, 900, 105, 400, 103, 700, 101, 300)).isEqualTo(1);
    }

    @Test
    void shouldFindWhatStays() {
        assertThat(growth(110, 120, 130, 140, 150, 160)).isEqualTo(30);
    }

    @Test
    void shouldFindWhatThisJvmKeeps() {
        HeapSeries heap = HeapSeries.ofThisJvm();
        heap.add();
        heap.add();
        byte[][] kept = new byte[20][1 << 20];
        heap.add();
        heap.add();

        assertThat(heap.growthBytes()).isGreaterThan(10 << 20);
        assertThat(kept).hasDimensions(20, 1 << 20); // so that it is kept until here
    }

    private static long growth(int... points) {
        List<Long> values = IntStream.of(points).asLongStream().boxed().toList();
        var next = values.iterator();
        HeapSeries heap = HeapSeries.of(next::next);
        values.forEach(unused -> heap.add());
        return heap.growthBytes();
    }
}
