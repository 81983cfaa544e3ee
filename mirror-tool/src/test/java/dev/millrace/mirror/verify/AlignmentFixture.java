package dev.millrace.mirror.verify;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/** Compares lists of digests, whose offsets are ten times their indexes, as if there were markers between them. */
final class AlignmentFixture {
    static final long OFFSETS = 10;

    private AlignmentFixture() {}

    static PartitionResult compare(List<Long> source, List<Long> target, Alignment.Sizes sizes) {
        return compare(source, target, sizes, source.size() * OFFSETS, false, false);
    }

    static PartitionResult compare(
            List<Long> source,
            List<Long> target,
            Alignment.Sizes sizes,
            long copiedUpTo,
            boolean mayTargetLackFirst,
            boolean maySourceLackFirst) {
        PartitionRange range = new PartitionRange(
                0,
                source.size() * OFFSETS,
                copiedUpTo,
                0,
                target.size() * OFFSETS,
                mayTargetLackFirst,
                maySourceLackFirst);
        PartitionTally tally = new PartitionTally(0, true);
        new Alignment(new Listed(source), new Listed(target), new FoundFaults(range, tally), range, sizes).run();
        return tally.result();
    }

    static List<Long> numbers(long from, long to) {
        return LongStream.range(from, to).boxed().toList();
    }

    @SafeVarargs
    static List<Long> join(List<Long>... parts) {
        List<Long> all = new ArrayList<>();
        for (List<Long> part : parts) {
            all.addAll(part);
        }
        return all;
    }

    /** The length of the longest common subsequence, by the definition. */
    static int naiveCommon(List<Long> source, List<Long> target) {
        int[][] common = new int[source.size() + 1][target.size() + 1];
        for (int i = 1; i <= source.size(); i++) {
            for (int j = 1; j <= target.size(); j++) {
                common[i][j] = source.get(i - 1).equals(target.get(j - 1))
                        ? common[i - 1][j - 1] + 1
                        : Math.max(common[i - 1][j], common[i][j - 1]);
            }
        }
        return common[source.size()][target.size()];
    }

    static int countMissing(List<Long> from, List<Long> in) {
        Set<Long> there = new HashSet<>(in);
        return (int) from.stream().filter(record -> !there.contains(record)).count();
    }

    private static final class Listed implements RecordStream {
        private final List<Long> digests;
        private int next;

        Listed(List<Long> digests) {
            this.digests = digests;
        }

        @Override
        public void fill(RecordWindow window, int size) {
            while (window.size() < size && !isAtEnd()) {
                window.add(next * OFFSETS, digests.get(next++));
            }
        }

        @Override
        public boolean isAtEnd() {
            return next == digests.size();
        }

        @Override
        public void seek(long offset) {
            next = (int) ((offset + OFFSETS - 1) / OFFSETS);
        }
    }
}
