package dev.millrace.client.accumulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class PartitionQueuesTest {
    private final TestAccumulator parts = new TestAccumulator(1 << 20, 1_000);
    private final PartitionQueues queues = new PartitionQueues();

    @Test
    void shouldFindNothingWhereNothingWasAppended() {
        create("b", 3, 2);

        assertThat(queues.get(0, 0)).isNull();
        assertThat(queues.get(3, 1)).isNull();
        assertThat(queues.get(3, 3)).isNull();
        assertThat(queues.get(100, 0)).isNull();
        assertThat(queues.get(3, 2).partition()).isEqualTo(new TopicPartition("b", 2));
    }

    @Test
    void shouldKeepWhatIsThereWhenTopicsAndPartitionsAreAdded() {
        List<PartitionQueue> made = new ArrayList<>();
        for (int topic : new int[] {5, 0, 1, 64, 2}) {
            for (int partition : new int[] {2, 0, 7}) {
                made.add(create("t" + topic, topic, partition));
            }
        }

        List<PartitionQueue> found = new ArrayList<>();
        queues.forEach(found::add);
        assertThat(found).containsExactlyInAnyOrderElementsOf(made);
        assertThat(made).allSatisfy(queue -> {
            int topic = Integer.parseInt(queue.partition().topic().substring(1));
            assertThat(queues.get(topic, queue.partition().partition())).isSameAs(queue);
        });
        assertThat(made)
                .extracting(PartitionQueue::id)
                .containsExactlyElementsOf(IntStream.range(0, 15).boxed().toList());
    }

    /** Two queues of one partition would number its batches twice. */
    @Test
    void shouldMakeOneQueueOfAPartitionWhenManyThreadsCreateIt() throws Exception {
        int topics = 200;
        ConcurrentHashMap<TopicPartition, PartitionQueue> seen = new ConcurrentHashMap<>();
        Workers workers = new Workers().add(8, () -> {
            for (int topic = 0; topic < topics; topic++) {
                for (int partition = 0; partition < 3; partition++) {
                    PartitionQueue queue = queues.get(topic, partition);
                    if (queue == null) {
                        queue = create("t" + topic, topic, partition);
                    }
                    PartitionQueue other = seen.putIfAbsent(queue.partition(), queue);
                    assertThat(queue.partition()).isEqualTo(new TopicPartition("t" + topic, partition));
                    assertThat(other).isIn(null, queue);
                }
            }
        });
        workers.start().join();

        assertThat(seen).hasSize(3 * topics);
    }

    /** A queue that close missed would accept records that are never sent. */
    @Test
    void shouldHaveShownEveryQueueThatWasMadeWhenItIsClosedMeanwhile() throws Exception {
        for (int round = 0; round < 200; round++) {
            PartitionQueues closing = new PartitionQueues();
            ConcurrentHashMap<TopicPartition, PartitionQueue> made = new ConcurrentHashMap<>();
            Workers workers = new Workers()
                    .add(4, () -> {
                        for (int topic = 0; topic < 40; topic++) {
                            PartitionQueue queue = closing.create(parts.accumulator, "t" + topic, topic, 0);
                            if (queue != null) {
                                made.put(queue.partition(), queue);
                            }
                        }
                    })
                    .add(1, closing::close);
            workers.start().join();

            List<PartitionQueue> shown = new ArrayList<>();
            closing.forEach(shown::add);
            assertThat(shown).containsExactlyInAnyOrderElementsOf(made.values());
            for (PartitionQueue queue : made.values()) {
                assertThat(queue.append(TestRecord.ofSize(1).encodable(), null, 0))
                        .isNull();
            }
            assertThat(closing.create(parts.accumulator, "late", 40, 0)).isNull();
        }
    }

    private PartitionQueue create(String topic, int index, int partition) {
        return queues.create(parts.accumulator, topic, index, partition);
    }
}
