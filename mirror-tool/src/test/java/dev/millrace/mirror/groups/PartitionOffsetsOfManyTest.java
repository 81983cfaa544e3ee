package dev.millrace.mirror.groups;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.offsets.OffsetRuns;
import dev.millrace.mirror.offsets.Translation;
import dev.millrace.mirror.pass.AckedRuns;
import dev.millrace.mirror.progress.CopiedOffsets;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.apache.kafka.common.Uuid;

/** Members that own a partition one after the other: nothing that any of them shows lets a group skip a record. */
class PartitionOffsetsOfManyTest {
    private static final Uuid TARGET = new Uuid(2, 2);

    private enum What {
        COPY,
        COMMIT,
        /** Another member becomes the owner; it has what the former one has written to the map. */
        TAKE_OVER,
        /** Another member becomes the owner before the former one has written anything. */
        TAKE_OVER_EARLY,
        /** The owner has what the former one has written to the map meanwhile. */
        LOAD_AGAIN,
        /** A former owner, which was away, goes on copying before it sees that it has lost the partition. */
        COPY_LATE,
        SOURCE_GAP,
        TARGET_GAP,
        /** The owner copies records of which nothing is told. */
        COPY_UNTOLD
    }

    private record Step(What what, int amount) {}

    private static final class Member {
        private final PartitionOffsets offsets = new PartitionOffsets(Uuid.ONE_UUID, 0);
        private AckedRuns session;
        private long position;

        Member(long position, OffsetRuns stored, boolean isLast) {
            this.position = position;
            session = offsets.begin(CopiedOffsets.NONE, position);
            offsets.load(stored, TARGET, 0, isLast);
        }

        OffsetRuns written() {
            return OffsetRuns.read(ByteBuffer.wrap(offsets.committedRuns().toBytes()));
        }
    }

    /** The two topics, the group's position, and all who own or owned the partition. */
    private static final class Model {
        private final List<Member> members = new ArrayList<>(List.of(new Member(0, new OffsetRuns(), true)));
        /** Each with the target offset of its last copy; none of the gaps. */
        private final TreeMap<Long, Long> lastCopies = new TreeMap<>();

        private final List<Boolean> source = new ArrayList<>();
        private long targetEnd;
        private long committed;

        void take(Step step) {
            Member owner = members.get(members.size() - 1);
            switch (step.what) {
                case COPY -> copy(owner, step.amount, true);
                case COPY_LATE -> copy(members.get(step.amount % members.size()), step.amount, true);
                case COPY_UNTOLD -> {
                    owner.offsets.end(CopiedOffsets.NONE);
                    copy(owner, step.amount, false);
                    owner.session = owner.offsets.begin(CopiedOffsets.NONE, owner.position);
                }
                case COMMIT -> {
                    committed = Math.max(committed, owner.position - step.amount / 3);
                    owner.offsets.onCommitted(committed);
                }
                case TAKE_OVER -> members.add(new Member(committed, owner.written(), true));
                case TAKE_OVER_EARLY -> members.add(new Member(committed, new OffsetRuns(), false));
                case LOAD_AGAIN -> {
                    if (!owner.offsets.isComplete()) {
                        OffsetRuns written = members.get(members.size() - 2).written();
                        owner.offsets.load(written, TARGET, 0, step.amount % 2 == 0);
                    }
                }
                case SOURCE_GAP -> {
                    if (owner.position == source.size()) {
                        source.add(false);
                    }
                }
                case TARGET_GAP -> targetEnd += step.amount;
                default -> throw new AssertionError(step);
            }
        }

        private void copy(Member member, int count, boolean isTold) {
            for (int i = 0; i < count; i++) {
                if (member.position == source.size()) {
                    source.add(true);
                }
                long offset = member.position++;
                if (source.get((int) offset)) {
                    if (isTold) {
                        member.session.onAcknowledged(offset, targetEnd, 1);
                    }
                    lastCopies.put(offset, targetEnd++);
                }
            }
        }

        void check() {
            long copied = members.get(members.size() - 1).position; // what is from there on is copied again
            for (Member member : members) {
                OffsetRuns shown = member.offsets.committedRuns();
                for (long offset = 0; offset <= source.size(); offset++) {
                    if (!shown.isBefore(offset)) {
                        Translation to = shown.translate(offset);
                        assertThat(lastCopies
                                        .tailMap(offset)
                                        .headMap(Math.max(offset, copied))
                                        .values())
                                .as("from %d on in %s", offset, shown)
                                .allMatch(copy -> copy >= to.target());
                    }
                }
            }
        }
    }

    @Provide
    static Arbitrary<List<Step>> steps() {
        Arbitrary<What> what = Arbitraries.frequencyOf(
                Tuple.of(8, Arbitraries.of(What.COPY, What.COMMIT)), Tuple.of(10, Arbitraries.of(What.values())));
        return Combinators.combine(what, Arbitraries.integers().between(0, 6))
                .as(Step::new)
                .list()
                .ofMaxSize(30);
    }

    @Property
    void shouldSkipNothingWhoeverIsAsked(@ForAll("steps") List<Step> steps) {
        Model model = new Model();
        for (Step step : steps) {
            model.take(step);
            model.check();
        }
    }
}
