package dev.millrace.client.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The checks of {@link ExactlyOnceSimulationTest} find each of many mistakes. The seeds are always the same, so this
 * fails only if the code or the simulation has changed: then see whether the twin still means what its name says.
 */
@Tag("thorough")
class WeakenedTwinsTest {
    /** {@code -Dmillrace.twins.seeds=…} plays more. */
    private static final int MOST_SEEDS = Integer.getInteger("millrace.twins.seeds", 200);

    @ParameterizedTest
    @EnumSource
    void shouldFindTheMistake(WeakenedTwin twin) throws Exception {
        assertThat(twin.find(MOST_SEEDS))
                .as("%s, after %d seeds", twin, MOST_SEEDS)
                .hasValueSatisfying(found -> {
                    System.out.printf(
                            "%s: seed %d of %s: %s%n", twin, found.seeds(), found.scenario(), found.failure());
                    // Not what the twin itself throws, nor a class that cannot be loaded.
                    assertThat(found.failure()).isInstanceOf(AssertionError.class);
                });
    }

    @Test
    void shouldListEveryTwin() throws Exception {
        String page = Files.readString(Path.of("../docs/semantics.md"));

        for (WeakenedTwin twin : WeakenedTwin.values()) {
            assertThat(page).contains("| `" + twin + "` |");
        }
    }
}
