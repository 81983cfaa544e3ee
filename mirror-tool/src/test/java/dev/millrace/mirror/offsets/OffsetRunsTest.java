package dev.millrace.mirror.offsets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.offsets.OffsetRuns.Copy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Runs against a list of all copies: nobody skips a record, or sees more of them twice than was said. */
class OffsetRunsTest {
    private enum What {
        COPY,
        /** Compaction, or a marker. */
        SOURCE_GAP,
        /** Records of others, or a marker. */
        TARGET_GAP,
        /** Of which it is not told where they are. */
        COPY_UNTOLD,
        MOVE_END,
        /** The target loses its last records. */
        TRUNCATE_TARGET,
        /** The mirror goes on exactly, but what it knew of the last records is lost. */
        RESTART_EXACTLY,
        /** The mirror copies the last records again. */
        RESTART_AT_LEAST_ONCE,
        /** Another one has the runs now, and adds what it has learnt meanwhile. */
        HAND_OVER,
        DROP_OLD
    }

    private record Step(What what, int amount) {}

    /** A mirror, its target, and all copies. */
    private static final class Model {
        private final List<Copy> copies = new ArrayList<>();
        /** Each with the target offset of its last copy. */
        private final TreeMap<Long, Long> records = new TreeMap<>();

        private OffsetRuns runs = new OffsetRuns();
        private OffsetRuns storedOrNull;
        private long handedOverAt;
        private long position;
        private long newest;
        private long targetEnd;

        void take(Step step) {
            switch (step.what) {
                case COPY -> copy(step.amount, true);
                case COPY_UNTOLD -> copy(step.amount, false);
                case SOURCE_GAP -> {
                    if (position == newest) {
                        position += step.amount;
                        newest = position;
                    }
                }
                case TARGET_GAP -> targetEnd += step.amount;
                case MOVE_END -> runs.moveEnd(position);
                case TRUNCATE_TARGET -> truncate(Math.max(0, targetEnd - step.amount));
                case RESTART_EXACTLY -> {
                    runs.begin(Math.min(runs.end(), position - step.amount));
                    begin();
                }
                case RESTART_AT_LEAST_ONCE -> {
                    position = Math.max(0, position - step.amount);
                    begin();
                }
                case HAND_OVER -> {
                    merge();
                    storedOrNull = runs;
                    runs = new OffsetRuns();
                    handedOverAt = position;
                }
                case DROP_OLD -> {
                    if (storedOrNull == null) {
                        runs.dropBefore(step.amount * 3L);
                    }
                }
                default -> throw new AssertionError(step);
            }
        }

        private void begin() {
            runs.begin(position);
            handedOverAt = Math.min(handedOverAt, position);
        }

        private void truncate(long end) {
            targetEnd = end;
            copies.removeIf(copy -> copy.target() >= end);
            records.values().removeIf(last -> last >= end);
            runs.truncate(end);
            if (storedOrNull != null) {
                storedOrNull.truncate(end);
            }
        }

        /** As many records, some of which may have been copied before. */
        private void copy(int count, boolean isTold) {
            long from = position;
            int copied = 0;
            for (int i = 0; i < count; i++, position++) {
                boolean isRecord = position >= newest || records.containsKey(position);
                if (isRecord) {
                    records.put(position, targetEnd);
                    copies.add(new Copy(position, targetEnd++));
                    copied++;
                }
                if (!isRecord || i == count - 1) {
                    tell(from, copied, isTold);
                    from = position + 1;
                    copied = 0;
                }
            }
            newest = Math.max(newest, position);
        }

        private void tell(long from, int count, boolean isTold) {
            if (count > 0 && isTold) {
                runs.append(from, targetEnd - count, count);
            } else if (count > 0) {
                runs.appendUnknown(from, count);
            }
        }

        void merge() {
            if (storedOrNull != null) {
                storedOrNull.begin(handedOverAt);
                storedOrNull.appendAll(runs);
                runs = storedOrNull;
                storedOrNull = null;
            }
        }

        /** A group of the target goes on at the source, from each offset: it skips no original that it has not read. */
        void checkInverted(boolean isExact) {
            OffsetRuns inverted = runs.inverted();
            if (runs.end() == position) {
                inverted.moveEnd(targetEnd);
            }
            for (long from = 0; from <= targetEnd; from++) {
                if (isExact) {
                    assertThat(inverted.isBefore(from)).isEqualTo(runs.isEmpty() || from < runs.firstTarget());
                }
                if (inverted.isBefore(from)) {
                    continue;
                }
                Translation to = inverted.translate(from);
                Set<Long> read = new HashSet<>();
                Set<Long> unread = new HashSet<>();
                for (Copy copy : copies) {
                    (copy.target() < from ? read : unread).add(copy.source());
                }
                unread.removeAll(read);
                assertThat(unread)
                        .as("%d in %s, inverted %s", from, runs, inverted)
                        .allMatch(source -> source >= to.target());
                if (isExact) {
                    assertThat(to.twiceAtMost()).isZero();
                    assertThat(read)
                            .as("%d in %s, inverted %s", from, runs, inverted)
                            .allMatch(source -> source < to.target());
                }
            }
        }

        void check(long offset) {
            Translation to = runs.translate(offset);
            assertThat(to.target()).as("%d in %s", offset, runs).isLessThanOrEqualTo(targetEnd);
            long skipped = records.tailMap(offset).headMap(Math.max(offset, position)).values().stream()
                    .filter(last -> last < to.target())
                    .count();
            long again = copies.stream()
                    .filter(copy -> copy.source() < offset && copy.target() >= to.target())
                    .map(Copy::source)
                    .distinct()
                    .count();
            assertThat(skipped).as("skipped from %d on in %s", offset, runs).isZero();
            assertThat(again).as("seen twice at %d in %s", offset, runs).isLessThanOrEqualTo(to.twiceAtMost());
        }
    }

    /** MirrorMaker 2 takes its copy for the first record at this offset, and what is after it for all that are later. */
    private static void checkLastCopy(Model model) {
        model.runs.lastCopy().ifPresent(last -> {
            long skipped = model.records.subMap(last.source(), model.position).entrySet().stream()
                    .filter(next -> next.getValue() < last.target() + Math.min(1, next.getKey() - last.source()))
                    .count();
            assertThat(skipped).as("skipped after %s in %s", last, model.runs).isZero();
            assertThat(last.target()).as("%s in %s", last, model.runs).isLessThan(model.targetEnd);
        });
    }

    @Provide
    static Arbitrary<List<Step>> steps() {
        Arbitrary<What> what = Arbitraries.frequencyOf(
                Tuple.of(10, Arbitraries.just(What.COPY)), Tuple.of(10, Arbitraries.of(What.values())));
        return Combinators.combine(what, Arbitraries.integers().between(1, 6))
                .as(Step::new)
                .list()
                .ofMaxSize(25);
    }

    @Property
    void shouldSkipNothingAndRepeatNoMoreThanItSays(@ForAll("steps") List<Step> steps) {
        Model model = new Model();
        for (Step step : steps) {
            model.take(step);
            if (model.storedOrNull == null) {
                for (long offset = 0; offset <= model.position + 3; offset++) {
                    if (!model.runs.isBefore(offset)) {
                        model.check(offset);
                    }
                }
                checkLastCopy(model);
            }
        }
        model.merge();
        for (long offset = 0; offset <= model.position + 3; offset++) {
            if (!model.runs.isBefore(offset)) {
                model.check(offset);
            }
        }
        checkLastCopy(model);
        model.checkInverted(false);
    }

    @Property
    void shouldReadWhatItWrote(@ForAll("steps") List<Step> steps) {
        Model model = new Model();
        steps.forEach(model::take);
        model.merge();

        OffsetRuns read = OffsetRuns.read(ByteBuffer.wrap(model.runs.toBytes()));

        assertThat(read).hasToString(model.runs.toString());
    }

    @Property
    void shouldBeExactIfAllIsTold(@ForAll("steps") List<Step> steps) {
        Model model = new Model();
        steps.stream().filter(step -> step.what.compareTo(What.TARGET_GAP) <= 0).forEach(model::take);
        model.runs.moveEnd(model.position);

        for (long offset = 0; offset <= model.position; offset++) {
            if (!model.runs.isBefore(offset)) {
                assertThat(model.runs.translate(offset).twiceAtMost()).isZero();
                model.check(offset);
            }
        }
        assertThat(model.runs.lastCopy()).isEqualTo(model.copies.stream().reduce((first, second) -> second));
        model.checkInverted(true);
    }

    @Example
    void shouldHaveOneRunForAPlainTopic() {
        OffsetRuns runs = new OffsetRuns();
        for (int batch = 0; batch < 100_000; batch++) {
            runs.append(batch * 50L, 7 + batch * 50L, 50);
        }

        assertThat(runs).hasToString("0=7 5000000>=5000007");
        assertThat(runs.toBytes()).hasSizeLessThan(20);
        assertThat(runs.translate(1_234)).isEqualTo(new Translation(1_241, 0));
    }

    @Example
    void shouldSayThatWhatIsOldIsLessExactWhenEachBatchBeginsARun() {
        Model model = new Model();
        for (int i = 0; i < 20_000; i++) {
            model.take(new Step(What.COPY, 1));
            model.take(new Step(What.SOURCE_GAP, 1));
        }

        assertThat(model.runs.size()).isLessThanOrEqualTo(OffsetRuns.MOST);
        assertThat(model.runs.toBytes()).hasSizeLessThan(5 * OffsetRuns.MOST);
        for (long offset = 0; offset <= model.position; offset += 97) {
            model.check(offset);
            if (offset > model.position - 4_000) {
                assertThat(model.runs.translate(offset).twiceAtMost()).isZero();
            }
        }
        assertThat(model.runs.translate(997).twiceAtMost()).isPositive();
    }

    @Example
    void shouldForgetWhatTheTargetHasLost() {
        OffsetRuns runs = new OffsetRuns();
        runs.append(0, 0, 100);

        runs.append(100, 0, 10);

        assertThat(runs.translate(105)).isEqualTo(new Translation(5, 0));
        assertThat(runs.translate(50)).isEqualTo(new Translation(0, 0));
    }

    @Example
    void shouldKnowWhereAPartitionEndsOfWhichNothingWasCopied() {
        OffsetRuns runs = new OffsetRuns();
        runs.anchor(1_000, 400);
        runs.moveEnd(1_001);

        assertThat(runs.translate(1_000)).isEqualTo(new Translation(400, 0));
        assertThat(runs.translate(1_001)).isEqualTo(new Translation(400, 0));

        runs.append(1_002, 400, 5);

        assertThat(runs.translate(1_004)).isEqualTo(new Translation(402, 0));
    }
}
