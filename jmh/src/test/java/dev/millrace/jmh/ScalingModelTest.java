package dev.millrace.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScalingModelTest {
    private static final Offset<Double> EXACT = within(1e-6);

    @Test
    void shouldGrowWithTheCoresWhenNothingIsShared() {
        ScalingModel model = new ScalingModel(false, 100, 0);

        assertThat(model.opsPerUs(1, 1)).isCloseTo(10, EXACT);
        assertThat(model.opsPerUs(64, 1)).isCloseTo(640, EXACT);
    }

    @Test
    void shouldNeverBeFasterThanItsPlaces() {
        ScalingModel lock = new ScalingModel(true, 100, 50);

        assertThat(lock.opsPerUs(64, 1)).isBetween(19.9, 20.0);
        assertThat(lock.opsPerUs(64, 32)).isBetween(300.0, 427.0);
        assertThat(lock.opsPerUs(64, 1_000)).isBetween(400.0, 427.0);
    }

    /** Two cores that are in the shared part all the time take turns. */
    @Test
    void shouldBeAsFastAsOneCoreWhenAllIsInTheLock() {
        ScalingModel lock = new ScalingModel(true, 0, 50);

        assertThat(lock.opsPerUs(1, 1)).isCloseTo(20, EXACT);
        assertThat(lock.opsPerUs(2, 1)).isCloseTo(20, EXACT);
    }

    @Test
    void shouldLetACoreThatIsAloneKeepItsCacheLines() {
        assertThat(new ScalingModel(false, 100, 60).opsPerUs(1, 1)).isCloseTo(10, EXACT);
        assertThat(new ScalingModel(true, 100, 60).opsPerUs(1, 1)).isCloseTo(6.25, EXACT);
    }

    @ParameterizedTest
    @CsvSource({"false, 100, 60", "true, 100, 60", "true, 5, 400", "false, 80, 0"})
    void shouldFindTheModelBehindTwoMeasurements(boolean isLock, double aloneNs, double sharedNs) {
        ScalingModel model = new ScalingModel(isLock, aloneNs, sharedNs);

        ScalingModel found = ScalingModel.fit(isLock, model.opsPerUs(1, 1), model.opsPerUs(4, 1), 4);

        assertThat(found.aloneNs()).isCloseTo(aloneNs, within(1e-3));
        assertThat(found.sharedNs()).isCloseTo(sharedNs, within(1e-3));
    }
}
