package dev.millrace.client.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ReplicasTest {
    @Property(tries = 200)
    void shouldGiveTheBrokersOfEachPartitionInTheirOrder(
            @ForAll @IntRange(max = 5) int partitions,
            @ForAll @Size(15) List<@Size(max = 3) List<@IntRange(max = 3) Integer>> brokers) {
        int[][] all = arrays(brokers.subList(0, partitions));
        int[][] inSync = arrays(brokers.subList(5, 5 + partitions));
        int[][] offline = arrays(brokers.subList(10, 10 + partitions));

        Replicas replicas = new Replicas(all, inSync, offline);

        for (int p = 0; p < partitions; p++) {
            assertThat(replicas.all(p)).containsExactly(all[p]);
            assertThat(replicas.inSync(p)).containsExactly(inSync[p]);
            assertThat(replicas.offline(p)).containsExactly(offline[p]);
        }
        assertThat(new Replicas(all, inSync, offline)).isEqualTo(replicas).hasSameHashCodeAs(replicas);
    }

    private static int[][] arrays(List<List<Integer>> brokers) {
        return brokers.stream()
                .map(ofPartition ->
                        ofPartition.stream().mapToInt(Integer::intValue).toArray())
                .toArray(int[][]::new);
    }

    @Test
    void shouldDifferWhenAnyBrokerPartitionOrStateDiffers() {
        int[][] nobody = {{}, {}};
        Replicas replicas = new Replicas(new int[][] {{1, 2}, {3}}, new int[][] {{1, 2}, {3}}, nobody);

        assertThat(replicas)
                .isNotEqualTo(new Replicas(new int[][] {{1}, {2, 3}}, new int[][] {{1}, {2, 3}}, nobody))
                .isNotEqualTo(new Replicas(new int[][] {{2, 1}, {3}}, new int[][] {{2, 1}, {3}}, nobody))
                .isNotEqualTo(new Replicas(new int[][] {{1, 2}, {3}}, new int[][] {{1}, {3}}, nobody))
                .isNotEqualTo(new Replicas(new int[][] {{1, 2}, {3}}, new int[][] {{1, 2}, {3}}, new int[][] {{}, {3}}))
                .isNotEqualTo("replicas");
        assertThat(new Replicas(nobody, nobody, nobody))
                .isNotEqualTo(new Replicas(new int[1][0], new int[1][0], new int[1][0]));
    }

    @Test
    void shouldNotChangeWhenAnArrayThatItWasGivenDoes() {
        int[][] brokers = {{1, 2}};
        Replicas replicas = new Replicas(brokers, brokers, brokers);

        brokers[0][0] = 7;
        replicas.all(0)[1] = 7;

        assertThat(replicas.all(0)).containsExactly(1, 2);
    }
}
