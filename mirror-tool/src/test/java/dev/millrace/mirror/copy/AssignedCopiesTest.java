package dev.millrace.mirror.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class AssignedCopiesTest {
    private final AssignedCopies copies = new AssignedCopies();
    private final List<Integer> visited = new ArrayList<>();

    @Test
    void shouldVisitOnlyCopiesWhoseWorkerHasDoneSomethingOrThatAreBusy() {
        add(0, true);
        add(1, false).add(1, () -> true); // it waits
        add(2, true).add(1, () -> true);

        assertThat(visit()).containsExactlyInAnyOrder(1, 2);
        assertThat(visit()).containsExactly(1);
    }

    @Test
    void shouldVisitAnotherOneFirstEachTime() {
        for (int partition = 0; partition < 3; partition++) {
            add(partition, false).add(1, () -> true);
        }

        assertThat(List.of(visit().get(0), visit().get(0), visit().get(0))).containsExactlyInAnyOrder(0, 1, 2);
    }

    @Test
    void shouldVisitAllAgainAfterAVisitThatThrows() {
        add(0, false).add(1, () -> true);
        add(1, false).add(1, () -> true);

        assertThatThrownBy(() -> copies.visitActive(copy -> {
                    throw new IllegalStateException();
                }))
                .isInstanceOf(IllegalStateException.class);

        assertThat(visit()).containsExactlyInAnyOrder(0, 1);
    }

    private WaitingBatches add(int number, boolean isRoom) {
        TopicPartition partition = new TopicPartition("a", number);
        WaitingBatches waiting = new WaitingBatches(bytes -> isRoom, () -> copies.onWork(partition));
        PartitionCopy copy = new PartitionCopy(partition, 0, Optional.empty(), true, false, any -> null);
        copies.add(new AssignedCopy(partition, null, copy, null, null, null, waiting));
        return waiting;
    }

    private List<Integer> visit() {
        visited.clear();
        copies.visitActive(copy -> visited.add(copy.partition().partition()));
        return List.copyOf(visited);
    }
}
