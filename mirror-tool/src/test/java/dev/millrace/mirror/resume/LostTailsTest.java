package dev.millrace.mirror.resume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.progress.CommitMetadata.ResumePoint;
import java.util.OptionalLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LostTailsTest {
    @ParameterizedTest(name = "committed target offset {0}, target ends at {1}: lost is {2}")
    @CsvSource({"40, 39, true", "40, 0, true", "40, 40, false", "40, 41, false", "-1, 0, false"})
    void shouldFindThatATargetEndsBeforeWhatIsCommitted(long committed, long end, boolean isLost) {
        assertThat(LostTails.isLost(point(1_000, committed), end)).isEqualTo(isLost);
    }

    @ParameterizedTest(name = "position {0} at {1}, target ends at {2}, last copy ends at {3}, source begins at {4}")
    @CsvSource({
        "1000, 1000, 900, 900, 0, 900",
        "1000, 800, 700, 890, 0, 890", // the source has gaps
        "1000, 800, 700, 950, 0, 900", // an equal record further on was found
        "1000, 800, 700, -1, 30, 30", // it was not found: all again
        "1000, 800, 0, 30, 30, 30",
        "1000, 800, 700, 890, 950, 950", // the source has deleted some
    })
    void shouldBeginWithTheFirstRecordThatMayBeMissing(
            long position, long committed, long end, long afterLastCopy, long first, long expected) {
        OptionalLong found = afterLastCopy < 0 ? OptionalLong.empty() : OptionalLong.of(afterLastCopy);

        assertThat(LostTails.firstMissing(point(position, committed), end, found, first))
                .isEqualTo(expected);
    }

    private static ResumePoint point(long position, long targetOffset) {
        return new ResumePoint(77, (short) 3, 100, position, targetOffset);
    }
}
