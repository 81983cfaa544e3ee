package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class EverydayOptionTest {
    @Test
    void shouldRunAllCasesWithTheirOptionsWhenNoneIsNamed() {
        Map<EverydayCase, RaceCommand> races = races("--everyday", "--json");

        assertThat(races.keySet()).containsExactly(EverydayCase.values());
        RaceCommand slow = races.get(EverydayCase.RATE_1000);
        assertThat(slow.rate()).isEqualTo(1000);
        assertThat(slow.rounds()).isEqualTo(1);
        assertThat(slow.threads()).containsExactly(8);
        RacerArguments arguments = slow.racerArguments("millrace", 8);
        assertThat(arguments.flag("callbacks")).isTrue();
        assertThat(arguments.whole("seconds")).isEqualTo(8);
        assertThat(arguments.whole("warmup_ms")).isEqualTo(4000);
    }

    @ParameterizedTest
    @EnumSource(EverydayCase.class)
    void shouldFindEveryCaseByItsName(EverydayCase everydayCase) {
        assertThat(races("--everyday=" + everydayCase.caseName()).keySet()).containsExactly(everydayCase);
    }

    @Test
    void shouldReplaceOptionsOfCasesByThoseGiven() {
        Map<EverydayCase, RaceCommand> races =
                races("--everyday=young,first", "--callbacks", "--threads", "2", "--rounds=3", "--records=10");

        RacerArguments young = races.get(EverydayCase.YOUNG).racerArguments("millrace", 2);
        assertThat(young.flag("callbacks")).isTrue();
        assertThat(young.whole("seconds")).isZero();
        assertThat(young.whole("records")).isEqualTo(10);
        assertThat(races.get(EverydayCase.YOUNG).threads()).containsExactly(2);
        assertThat(races.get(EverydayCase.FIRST).rounds()).isEqualTo(3 * FirstRecord.STARTS_PER_ROUND);
    }

    @Test
    void shouldGiveTurnsInAllCasesThatNeedNoNewJvms() {
        Map<EverydayCase, RaceCommand> races = races("--everyday", "--paired=60");

        assertThat(races.keySet()).doesNotContain(EverydayCase.YOUNG, EverydayCase.FIRST);
        RacerArguments large = races.get(EverydayCase.VALUES_10K).racerArguments("millrace", 32);
        assertThat(large.integer("turns")).isEqualTo(60);
        assertThat(large.whole("seconds")).isEqualTo(1);
        assertThat(large.whole("warmup")).isEqualTo(10_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--everyday=old", "--everyday=rate-1000 --syscalls", "--everyday --threads=1,2"})
    void shouldRefuseWhatIsNoCaseOrFitsNone(String line) {
        assertThatThrownBy(() -> races(line.split(" ", -1))).isInstanceOf(ParameterException.class);
    }

    private static Map<EverydayCase, RaceCommand> races(String... arguments) {
        RaceCommand command = new RaceCommand();
        new CommandLine(command).parseArgs(arguments);
        return command.everyday().races();
    }
}
