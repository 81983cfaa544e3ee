package dev.millrace.mirror.verify;

import static dev.millrace.mirror.verify.AlignmentFixture.compare;
import static dev.millrace.mirror.verify.AlignmentFixture.countMissing;
import static dev.millrace.mirror.verify.AlignmentFixture.join;
import static dev.millrace.mirror.verify.AlignmentFixture.naiveCommon;
import static dev.millrace.mirror.verify.AlignmentFixture.numbers;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AlignmentTest {
    /** So small that much of what differs does not fit. */
    private static final Alignment.Sizes SMALL = new Alignment.Sizes(3, 8, 16, 32);

    private static final List<Long> SOURCE = numbers(0, 500);

    @Property
    void shouldNeverReportEqualOnes(@ForAll @Size(max = 300) List<@IntRange(max = 5) Integer> numbers) {
        List<Long> records = numbers.stream().map(Integer::longValue).toList();

        PartitionResult result = compare(records, records, SMALL);

        assertThat(result.faults()).isEmpty();
        assertThat(result.same()).isEqualTo(records.size());
        assertThat(result.notCopiedYet()).isZero();
    }

    @Property(tries = 2_000)
    void shouldAgreeWithANaiveComparisonAfterAnyEdits(
            @ForAll @IntRange(max = 150) int records, @ForAll @IntRange(max = 12) int edits, @ForAll long seed) {
        List<Long> source = numbers(0, records);
        List<Long> target = edit(source, edits, new Random(seed));

        PartitionResult result = compare(source, target, Alignment.Sizes.DEFAULT);

        Map<Fault, Long> faults = result.faults();
        int present = records - countMissing(source, target);
        int strangers = countMissing(target, source);
        assertThat(faults.isEmpty()).isEqualTo(source.equals(target));
        assertThat(count(faults, Fault.MISSING) + count(faults, Fault.DIFFERENT))
                .isEqualTo(countMissing(source, target));
        assertThat(count(faults, Fault.EXTRA) + count(faults, Fault.DIFFERENT)).isEqualTo(strangers);
        assertThat(result.same() + count(faults, Fault.OUT_OF_ORDER)).isEqualTo(present);
        assertThat(count(faults, Fault.DOUBLED)).isEqualTo(target.size() - strangers - present);
        assertThat(result.same()).isLessThanOrEqualTo(naiveCommon(source, target));
        assertThat(result.source()).isEqualTo(records);
        assertThat(result.target()).isEqualTo(target.size());
    }

    /** All that a mirror does that writes at least once; also where little fits the windows. */
    @Property
    void shouldOnlyCallDoubledWhatAMirrorWritesAgainAfterItWasKilled(
            @ForAll @IntRange(min = 1, max = 300) int records,
            @ForAll @IntRange(max = 8) int kills,
            @ForAll long seed) {
        Random random = new Random(seed);
        List<Long> target = new ArrayList<>();
        int next = 0;
        for (int kill = 0; kill < kills; kill++) {
            int end = next + random.nextInt(records - next + 1);
            target.addAll(numbers(next, end));
            next = end - random.nextInt(Math.min(end, 60) + 1);
        }
        target.addAll(numbers(next, records));
        List<Long> source = numbers(0, records);

        for (Alignment.Sizes sizes : List.of(SMALL, Alignment.Sizes.DEFAULT)) {
            PartitionResult result = compare(source, target, sizes);

            assertThat(result.same()).isEqualTo(records);
            assertThat(count(result.faults(), Fault.DOUBLED)).isEqualTo(target.size() - records);
            assertThat(result.faults().keySet()).isSubsetOf(Fault.DOUBLED);
        }
    }

    @Property
    void shouldAgreeWithANaiveComparisonWhereLittleFitsItsWindows(
            @ForAll @IntRange(min = 1, max = 400) int records,
            @ForAll @IntRange(max = 6) int edits,
            @ForAll long seed) {
        List<Long> source = numbers(0, records);
        List<Long> target = edit(source, edits, new Random(seed));

        PartitionResult result = compare(source, target, SMALL);

        assertThat(result.faults().isEmpty()).isEqualTo(source.equals(target));
        assertThat(result.source()).isEqualTo(records);
        assertThat(result.target()).isEqualTo(target.size());
        assertThat(count(result.faults(), Fault.MISSING) + count(result.faults(), Fault.DIFFERENT))
                .isEqualTo(countMissing(source, target));
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    MISSING,      1
                    MISSING,      20
                    MISSING,      300
                    DOUBLED,      1
                    DOUBLED,      20
                    DOUBLED,      150
                    DIFFERENT,    1
                    DIFFERENT,    15
                    EXTRA,        1
                    EXTRA,        200
                    OUT_OF_ORDER, 1
                    OUT_OF_ORDER, 10
                    """)
    void shouldTellOneFaultByItsNameHoweverLongItIs(Fault fault, int length) {
        List<Long> target = switch (fault) {
            case MISSING -> join(numbers(0, 150), numbers(150 + length, 500));
            case DOUBLED -> join(numbers(0, 150), numbers(150 - length, 500));
            case DIFFERENT -> join(numbers(0, 150), numbers(9_000, 9_000 + length), numbers(150 + length, 500));
            case EXTRA -> join(numbers(0, 150), numbers(9_000, 9_000 + length), numbers(150, 500));
            case OUT_OF_ORDER ->
                join(numbers(0, 150), numbers(170, 170 + length), numbers(150, 170), numbers(170 + length, 500));
        };

        PartitionResult result = compare(SOURCE, target, SMALL);

        assertThat(result.faults()).isEqualTo(Map.of(fault, (long) length));
        assertThat(result.first().stream().mapToLong(Difference::records).sum()).isEqualTo(length);
        assertThat(result.first().get(0).describe())
                .startsWith("partition 0: ")
                .contains(" " + fault, fault == Fault.OUT_OF_ORDER ? "source offset" : "offset");
    }

    @Test
    void shouldNameTheOffsetsOfBothSides() {
        List<Long> target =
                join(numbers(0, 5), numbers(7, 20), List.of(900L), numbers(21, 30), numbers(26, 60), List.of(901L));

        PartitionResult result = compare(numbers(0, 60), target, Alignment.Sizes.DEFAULT);

        assertThat(result.first())
                .extracting(Difference::describe)
                .containsExactly(
                        "partition 0: 2 records missing, source offsets 50 to 60",
                        "partition 0: 1 record different, source offset 200, target offset 180",
                        "partition 0: 4 records doubled, target offsets 280 to 310",
                        "partition 0: 1 record extra, target offset 620");
    }

    @Test
    void shouldCountWhatIsNotCopiedYetAsBehind() {
        PartitionResult result = compare(SOURCE, numbers(0, 400), SMALL, 4_000, false, false);

        assertThat(result.faults()).isEmpty();
        assertThat(result.notCopiedYet()).isEqualTo(1_000);
    }

    @Test
    void shouldReportCommittedOnesThatAreMissingAtTheEnd() {
        PartitionResult result = compare(SOURCE, numbers(0, 400), SMALL, 4_100, false, false);

        assertThat(result.faults()).isEqualTo(Map.of(Fault.MISSING, 10L));
        assertThat(result.notCopiedYet()).isEqualTo(900);
    }

    @Test
    void shouldFindACopyAfterAnExtraRecordAtTheEnd() {
        PartitionResult result = compare(SOURCE, join(numbers(0, 400), List.of(900L)), SMALL, 4_000, false, false);

        assertThat(result.faults()).isEqualTo(Map.of(Fault.EXTRA, 1L));
        assertThat(result.notCopiedYet()).isEqualTo(1_000);
    }

    @Test
    void shouldNotBlameOneSideForWhatTheOtherHasDeleted() {
        PartitionResult older = compare(numbers(100, 500), SOURCE, SMALL, 4_000, false, true);
        PartitionResult shorter = compare(SOURCE, numbers(100, 500), SMALL, 5_000, true, false);

        assertThat(older.faults()).isEmpty();
        assertThat(older.notOnSource()).isEqualTo(100);
        assertThat(shorter.faults()).isEmpty();
        assertThat(shorter.notOnTarget()).isEqualTo(100);
    }

    /** Records of one batch may be equal, with the same time; a sample begins anywhere. */
    @Test
    void shouldMissNothingIfTheTargetBeginsWithinARunOfEqualRecords() {
        List<Long> before = numbers(1_000, 1_010);
        List<Long> rest = join(Collections.nCopies(20, 8L), Collections.nCopies(20, 9L), numbers(10, 20));
        List<Long> source = join(before, Collections.nCopies(20, 7L), rest);
        for (int left = 1; left <= 20; left++) {
            List<Long> target = join(Collections.nCopies(left, 7L), rest);

            PartitionResult result = compare(
                    source, target, Alignment.Sizes.DEFAULT, source.size() * AlignmentFixture.OFFSETS, true, false);

            assertThat(result.faults()).as("%d of the run", left).isEmpty();
            assertThat(result.notOnTarget()).isEqualTo(before.size() + 20 - left);
        }
    }

    @Test
    void shouldCallFurtherCopiesDoubledThoughTheFirstOnesAreDeleted() {
        List<Long> again = join(numbers(100, 200), numbers(50, 500));

        PartitionResult fromTarget = compare(SOURCE, again, Alignment.Sizes.DEFAULT, 5_000, true, false);
        PartitionResult fromSource = compare(
                numbers(120, 500),
                join(numbers(0, 200), numbers(50, 500)),
                Alignment.Sizes.DEFAULT,
                3_800,
                false,
                true);

        assertThat(fromTarget.faults().keySet()).containsExactly(Fault.DOUBLED);
        assertThat(fromSource.faults()).isEqualTo(Map.of(Fault.DOUBLED, 150L));
    }

    @Test
    void shouldTellThatNothingIsInCommon() {
        PartitionResult result = compare(SOURCE, numbers(9_000, 9_500), SMALL);

        assertThat(result.same()).isZero();
        assertThat(result.faults()).isEqualTo(Map.of(Fault.DIFFERENT, 500L));
    }

    @Test
    void shouldReportTheCopiesThatAreMissingOfATopicThatIsNotThere() {
        assertThat(compare(SOURCE, List.of(), SMALL).faults()).isEqualTo(Map.of(Fault.MISSING, 500L));
        assertThat(compare(SOURCE, List.of(), SMALL, 0, false, false).notCopiedYet())
                .isEqualTo(5_000);
    }

    /** Drops, doubles, swaps, changes and adds records, single ones and some in a row. */
    private static List<Long> edit(List<Long> source, int edits, Random random) {
        List<Long> target = new ArrayList<>(source);
        for (int edit = 0; edit < edits && !target.isEmpty(); edit++) {
            int at = random.nextInt(target.size());
            int length = Math.min(1 + random.nextInt(20), target.size() - at);
            List<Long> some = target.subList(at, at + length);
            switch (random.nextInt(5)) {
                case 0 -> some.clear();
                case 1 -> target.addAll(at + length, List.copyOf(some));
                case 2 -> Collections.swap(target, at, random.nextInt(target.size()));
                case 3 -> target.set(at, 10_000 + random.nextLong(1_000_000));
                default -> target.add(at, 10_000 + random.nextLong(1_000_000));
            }
        }
        return target;
    }

    private static long count(Map<Fault, Long> faults, Fault fault) {
        return faults.getOrDefault(fault, 0L);
    }
}
