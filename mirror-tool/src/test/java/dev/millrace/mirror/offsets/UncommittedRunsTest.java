package dev.millrace.mirror.offsets;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class UncommittedRunsTest {
    /** So many records, after gaps in both topics; then the group commits so many offsets before them. */
    private record Batch(int sourceGap, int targetGap, int count, int uncommitted) {}

    @Provide
    static Arbitrary<List<Batch>> batches() {
        Arbitrary<Integer> gap = Arbitraries.integers().between(0, 2);
        return Combinators.combine(
                        gap,
                        gap,
                        gap.map(count -> count + 1),
                        Arbitraries.integers().between(0, 9))
                .as(Batch::new)
                .list()
                .ofMaxSize(30);
    }

    @Property
    void shouldMoveInPartsWhatWasAddedAtOnce(@ForAll("batches") List<Batch> batches) {
        UncommittedRuns uncommitted = new UncommittedRuns();
        OffsetRuns committed = new OffsetRuns();
        OffsetRuns expected = new OffsetRuns();
        long source = 0;
        long target = 0;
        long position = 0;
        for (Batch batch : batches) {
            source += batch.sourceGap;
            target += batch.targetGap;
            uncommitted.add(source, target, batch.count);
            expected.append(source, target, batch.count);
            source += batch.count;
            target += batch.count;

            position = Math.max(position, source - batch.uncommitted);
            uncommitted.moveBefore(position, committed);
            assertThat(committed.end()).isLessThanOrEqualTo(position);
        }
        uncommitted.moveBefore(source, committed);

        assertThat(committed).hasToString(expected.toString());
        assertThat(uncommitted.isEmpty()).isTrue();
    }

    @Example
    void shouldReplaceWhatIsCopiedAgain() {
        UncommittedRuns uncommitted = new UncommittedRuns();
        OffsetRuns committed = new OffsetRuns();
        uncommitted.add(0, 0, 100);

        uncommitted.add(60, 300, 10);
        uncommitted.moveBefore(100, committed);

        assertThat(committed).hasToString("0=0 60=300 70>=310");
    }

    @Example
    void shouldMoveThatItIsNotKnownWhereRecordsAre() {
        UncommittedRuns uncommitted = new UncommittedRuns();
        OffsetRuns committed = new OffsetRuns();
        uncommitted.add(0, 0, 10);
        uncommitted.add(10, -1, 10);
        uncommitted.add(20, 25, 10);

        uncommitted.moveBefore(15, committed);
        assertThat(committed.translate(18)).isEqualTo(new Translation(10, 8));
        uncommitted.moveBefore(30, committed);

        assertThat(committed.translate(9)).isEqualTo(new Translation(9, 0));
        assertThat(committed.translate(15)).isEqualTo(new Translation(10, 5));
        assertThat(committed.translate(25)).isEqualTo(new Translation(30, 0));
    }

    @Example
    void shouldKeepTheNewerHalfExactWhenThereAreTooMany() {
        UncommittedRuns uncommitted = new UncommittedRuns();
        OffsetRuns committed = new OffsetRuns();
        int batches = 3 * OffsetRuns.MOST;
        for (int i = 0; i < batches; i++) {
            uncommitted.add(i, 2L * i, 1);
        }

        uncommitted.moveBefore(batches, committed);

        assertThat(committed.translate(batches - OffsetRuns.MOST / 2).twiceAtMost())
                .isZero();
    }
}
