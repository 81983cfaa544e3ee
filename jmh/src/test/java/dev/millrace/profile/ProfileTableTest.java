package dev.millrace.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ProfileTableTest {
    private static final String STOCK =
            "dev/millrace/race/Sender.run;org/apache/kafka/clients/producer/KafkaProducer.send";
    private static final String OURS = "dev/millrace/race/Sender.run;dev/millrace/client/MillraceProducer.send";

    @Test
    void shouldShowSharesBesideThoseOfTheJiraWhenCpuWasProfiled() {
        Profile stock = profile(
                "kafka-4.3.1",
                ProfileMode.CPU,
                STOCK + " 40000",
                STOCK + ";org/apache/kafka/clients/producer/KafkaProducer.waitOnMetadata 20000",
                STOCK + ";org/apache/kafka/clients/producer/KafkaProducer.waitOnMetadata"
                        + ";org/apache/kafka/clients/producer/internals/ProducerMetadata.add 10000",
                // In the I/O thread, so in no stage of send.
                "org/apache/kafka/clients/producer/internals/Sender.run;org/apache/kafka/clients/Metadata.fetch 30000");
        Profile ours =
                profile("millrace", ProfileMode.CPU, OURS + " 995", OURS + ";dev/millrace/client/TopicLookup.known 5");

        assertThat(ProfileTable.of(ProfileMode.CPU, List.of(stock, ours))).isEqualTo("""
                        ## CPU: share of all CPU time, and CPU per record (perf_events)

                        | in `send` of stock · Millrace                           | KAFKA-3428 |   kafka-4.3.1 |        millrace |
                        |---------------------------------------------------------|-----------:|--------------:|----------------:|
                        | `send`                                                  |     18.9 % | 70.0 %, 70 ns | 100.0 %, 1.0 ns |
                        | `waitOnMetadata` · `TopicLookup.known`                  |     13.8 % | 30.0 %, 30 ns |   0.5 %, 0.0 ns |
                        | `containsTopic`, `add` · `TopicRegistry.add`            |     12.1 % | 10.0 %, 10 ns |            none |
                        | `fetch` · `ClusterImages.current`, `ClusterImage.topic` |      2.6 % |          none |            none |
                        | `RecordAccumulator.append` · `PartitionQueue`           |            |          none |            none |
                        | memory: `BufferPool` · `BufferPool`, `MemoryWaiters`    |            |          none |            none |
                        | all, also outside `send`                                |            |        100 ns |          1.0 ns |
                        | samples                                                 |            |             4 |               2 |
                        """);
    }

    @Test
    void shouldSeparateWaitsForMemoryFromOthersWhenLocksWereProfiled() {
        Profile stock = profile(
                "kafka-4.4.0",
                ProfileMode.LOCK,
                STOCK
                        + ";org/apache/kafka/clients/producer/internals/RecordAccumulator.append;java.util.ArrayDeque_[i] 9000000",
                STOCK + ";org/apache/kafka/clients/producer/internals/RecordAccumulator.append"
                        + ";org/apache/kafka/clients/producer/internals/BufferPool.allocate"
                        + ";java.util.concurrent.locks.ReentrantLock$NonfairSync_[i] 1000000");
        Profile ours = profile(
                "millrace",
                ProfileMode.LOCK,
                OURS
                        + ";dev/millrace/client/accumulator/MemoryWaiters.await;java.util.concurrent.locks.ReentrantLock_[i] 3000");

        String table = ProfileTable.of(ProfileMode.LOCK, List.of(stock, ours));

        assertThat(row(table, "`send` ")).containsExactly("100.0 %, 10,000 ms", "100.0 %, 3.0 ms");
        assertThat(row(table, "memory")).containsExactly("10.0 %, 1,000 ms", "100.0 %, 3.0 ms");
        assertThat(row(table, "`send` without memory")).containsExactly("90.0 %, 9,000 ms", "none");
    }

    @Test
    void shouldSayNoneWhenNoThreadWaited() {
        String table = ProfileTable.of(ProfileMode.LOCK, List.of(profile("millrace", ProfileMode.LOCK)));

        assertThat(row(table, "all")).containsExactly("none");
    }

    @Test
    void shouldCompareWithTheTimeOfSendWhenTimeWasProfiled() {
        Profile stock = profile(
                "kafka-4.3.1",
                ProfileMode.WALL,
                STOCK + ";org/apache/kafka/clients/producer/internals/RecordAccumulator.append 500000",
                STOCK + " 500000");

        String table = ProfileTable.of(ProfileMode.WALL, List.of(stock));

        assertThat(row(table, "`RecordAccumulator.append`")).containsExactly("50.0 %, 500 ns");
        assertThat(row(table, "`send`, all")).containsExactly("1,000 ns");
    }

    private static Profile profile(String producer, ProfileMode mode, String... lines) {
        CollapsedStacks stacks = CollapsedStacks.parse(String.join("\n", lines));
        return new Profile(producer, mode, 1_000, lines.length, "perf_events", stacks);
    }

    /** The cells after the label in the first row whose label starts with this text. */
    private static List<String> row(String table, String label) {
        String line = table.lines()
                .filter(row -> row.startsWith("| " + label))
                .findFirst()
                .orElseThrow();
        String[] cells = line.substring(1, line.length() - 1).split("\\|");
        return List.of(cells).subList(1, cells.length).stream()
                .map(String::strip)
                .toList();
    }
}
