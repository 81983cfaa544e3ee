package dev.millrace.weather;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.weather.MirrorKind.Wanted;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ClimateTest {
    private static final List<Climate> CLIMATES = LongStream.range(0, 300)
            .mapToObj(seed -> Climate.draw(seed, Wanted.ANYTHING))
            .toList();

    @Test
    void shouldDrawTheSameClimateFromTheSameSeed() {
        assertThat(LongStream.range(0, 300).mapToObj(seed -> Climate.draw(seed, Wanted.ANYTHING)))
                .containsExactlyElementsOf(CLIMATES);
    }

    @Test
    void shouldDrawEveryModeEachResumeAndOldRecords() {
        assertThat(CLIMATES.stream().map(climate -> climate.mirror().mode())).containsAll(MirrorKind.MODES);
        assertThat(CLIMATES.stream().map(climate -> climate.mirror().resume())).containsAll(MirrorKind.RESUMES);
        assertThat(CLIMATES)
                .anyMatch(climate -> climate.topics().stream().anyMatch(TopicKind::isOld))
                .anyMatch(climate -> climate.topics().stream().anyMatch(topic -> topic.largeBytes() > 4_000_000))
                .anyMatch(climate -> climate.topics().stream().anyMatch(topic -> !topic.hasKeys()))
                .anyMatch(climate -> climate.mirror().hasGroups())
                .anyMatch(climate -> climate.source().quotaMegabytesPerSecond() > 0)
                .anyMatch(climate -> climate.topics().stream().anyMatch(TopicKind::hasStranger))
                .anyMatch(climate -> climate.topics().stream().anyMatch(TopicKind::hasSmallSegments))
                .anyMatch(climate -> climate.topics().stream().anyMatch(TopicKind::isCompacted))
                .anyMatch(climate -> climate.topics().stream().anyMatch(TopicKind::isRefused))
                .anyMatch(Climate::areCopiesDeleted)
                .anyMatch(Climate::areTopicsCreatedAgain)
                .anyMatch(climate -> climate.target().isAuthorized());
        assertThat(CLIMATES.stream().map(Climate::loss)).contains(SourceLoss.values());
        assertThat(CLIMATES.stream().map(Climate::start)).contains(Start.values());
    }

    @Test
    void shouldLoseEndsOfLogsOnOneBrokerAndOnSeveral() {
        assertThat(CLIMATES)
                .filteredOn(climate -> climate.loss().isOfTheEnd())
                .extracting(climate -> climate.source().brokers())
                .contains(1, 3);
    }

    @Test
    void shouldLeaveOutNothingThatMayHaveToBeCopiedAgain() {
        assertThat(CLIMATES)
                .filteredOn(climate -> climate.start().leavesOut())
                .isNotEmpty()
                .noneMatch(Climate::areCopiesDeleted)
                .noneMatch(climate -> climate.loss().isOfTheEnd());
    }

    @Test
    void shouldNameNoCopyLongerThanKafkaAllows() {
        assertThat(CLIMATES)
                .anyMatch(climate -> longestCopy(climate) == 249)
                .allMatch(climate -> longestCopy(climate) <= 249);
    }

    private static int longestCopy(Climate climate) {
        return climate.topics().stream()
                .mapToInt(topic -> (climate.mirror().prefix() + topic.name()).length())
                .max()
                .orElseThrow();
    }

    @Test
    void shouldGiveEachTopicANameThatTheMirrorLooksFor() {
        assertThat(CLIMATES)
                .allSatisfy(climate -> assertThat(climate.topics())
                        .allMatch(topic -> topic.name().matches(TopicKind.PATTERN))
                        .extracting(TopicKind::name)
                        .doesNotHaveDuplicates());
    }

    @Test
    void shouldHaveNoMoreDataThanTheLinkCarriesInTwentySeconds() {
        assertThat(CLIMATES).allMatch(climate -> climate.linkTime().compareTo(Duration.ofSeconds(20)) <= 0);
    }

    @Test
    void shouldChangeOnlyTheMirrorWhenSomebodyChoosesItsMode() {
        Climate drawn = Climate.draw(7, Wanted.ANYTHING);

        Climate chosen = Climate.draw(7, Wanted.copies("batches", "exactly-once"));

        assertThat(chosen.mirror().mode()).isEqualTo("batches");
        assertThat(chosen.mirror().resume()).isEqualTo("exactly-once");
        assertThat(chosen)
                .usingRecursiveComparison()
                .ignoringFields("mirror.mode", "mirror.resume")
                .isEqualTo(drawn);
    }

    @Test
    void shouldNeverResumeExactlyThroughConsumers() {
        assertThat(CLIMATES)
                .filteredOn(climate -> climate.mirror().mode().equals("consumer"))
                .isNotEmpty()
                .allMatch(climate -> climate.mirror().isAtLeastOnce());
        assertThat(LongStream.range(0, 100).mapToObj(seed -> Climate.draw(seed, Wanted.copies(null, "exact"))))
                .noneMatch(climate -> climate.mirror().mode().equals("consumer"));
    }
}
