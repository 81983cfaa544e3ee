package dev.millrace.mirror.groups;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.offsets.Translation;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class GroupTranslationTest {
    private static final TopicPartition PARTITION = new TopicPartition("orders", 0);

    /** Of source offsets 100 to 199, which are 0 to 99 at the target. */
    private final OffsetRuns runs = new OffsetRuns();

    @Test
    void shouldTranslateWhatIsKnown() {
        assertThat(of(0, 100).translate(PARTITION, 150)).contains(new Translation(50, 0));
        assertThat(of(0, 100).translate(PARTITION, 200)).contains(new Translation(100, 0));
    }

    @Test
    void shouldShowAllThatIsThereToAGroupBeforeWhatIsKnown() {
        assertThat(of(0, 100).translate(PARTITION, 99)).contains(new Translation(0, 0));
    }

    @Test
    void shouldBeginWhereTheTargetBegins() {
        assertThat(of(70, 100).translate(PARTITION, 150)).contains(new Translation(70, 0));
    }

    @Test
    void shouldSayNothingIfTheTargetHasLostRecords() {
        assertThat(of(0, 60).translate(PARTITION, 150)).contains(new Translation(50, 0));
        assertThat(of(0, 60).translate(PARTITION, 161)).isEmpty();
    }

    @Test
    void shouldSayNothingOfAPartitionThatTheTargetLacks() {
        GroupTranslation lacking = new GroupTranslation(Map.of(PARTITION, runs), Map.of(), Map.of());

        assertThat(lacking.translate(PARTITION, 150)).isEmpty();
    }

    private GroupTranslation of(long start, long end) {
        runs.append(100, 0, 100);
        return new GroupTranslation(Map.of(PARTITION, runs), Map.of(PARTITION, start), Map.of(PARTITION, end));
    }
}
