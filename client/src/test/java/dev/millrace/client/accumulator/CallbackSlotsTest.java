package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The callbacks of a batch until it is acknowledged. */
class CallbackSlotsTest {
    private final BatchResult result = new BatchResult(new TopicPartition("t", 0), null);

    @ParameterizedTest
    @ValueSource(ints = {1, 127, 128, 129, 255, 256, 257, 1_000, 8_192, 10_000})
    void shouldKeepEachCallbackAtItsIndex(int records) {
        CallbackSlots slots = new CallbackSlots(records);
        List<RecordFuture.WithCallback> futures = new ArrayList<>();
        for (int i = 0; i < records; i++) {
            futures.add(future(i));
            slots.put(i, futures.get(i));
        }

        for (int i = 0; i < records; i++) {
            assertThat(slots.get(i)).isSameAs(futures.get(i));
        }
    }

    @Test
    void shouldTakeTheLastRecordThatABatchMayHave() {
        CallbackSlots slots = new CallbackSlots(BatchTail.MAX_RECORDS);
        RecordFuture.WithCallback last = future(BatchTail.MAX_RECORDS - 1);

        slots.put(BatchTail.MAX_RECORDS - 1, last);

        assertThat(slots.get(BatchTail.MAX_RECORDS - 1)).isSameAs(last);
        assertThat(slots.get(0)).isNull();
    }

    private RecordFuture.WithCallback future(int index) {
        return (RecordFuture.WithCallback)
                RecordFuture.of(result, index, TestRecord.ofSize(1).encodable(), (metadata, error) -> {});
    }
}
