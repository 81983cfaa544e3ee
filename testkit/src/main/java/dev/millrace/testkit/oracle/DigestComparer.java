package dev.millrace.testkit.oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Compares two {@link TopicDigest}s. In each partition, the n-th record of the target with some hash is a copy of the
 * n-th record of the source with that hash. More records of the target with that hash are doubled. A record whose hash
 * is not in the source's partition is from another partition, or unexpected.
 *
 * <p>The order is checked twice: of first copies, counted from the beginning, and of last copies, counted from the end.
 * When two writers write the same records in turns, first copies are always in order; but if a record's last copy is
 * the older writer's, a reader that keeps the last copy of each record goes back in time.
 */
final class DigestComparer {
    private static final int MAX_EXAMPLES = 3;
    private static final int NONE = -1;

    private final TopicDigest source;
    private final TopicDigest target;
    private final List<String> examples = new ArrayList<>();

    /** Records of the target that are not in the same partition of the source. */
    private final List<Place> strangers = new ArrayList<>();

    /** Records of the source that are not in the same partition of the target. */
    private final List<Place> missing = new ArrayList<>();

    private long doubled;
    private long reordered;
    private long lastReordered;

    DigestComparer(TopicDigest source, TopicDigest target) {
        this.source = source;
        this.target = target;
    }

    Comparison compare() {
        for (int partition = 0; partition < Math.max(source.partitions(), target.partitions()); partition++) {
            long[] expected = source.partition(partition);
            long[] actual = target.partition(partition);
            if (!Arrays.equals(expected, actual)) {
                comparePartition(partition, expected, actual);
            }
        }
        long misrouted = 0;
        long unexpected = 0;
        HashPositions elsewhere = new HashPositions(strangers.isEmpty() ? new long[0] : allOf(source));
        for (Place stranger : strangers) {
            if (elsewhere.contains(stranger.hash)) {
                note("misrouted", ++misrouted, "target", stranger);
            } else {
                note("unexpected", ++unexpected, "target", stranger);
            }
        }
        long lost = 0;
        HashPositions gone =
                new HashPositions(strangers.stream().mapToLong(Place::hash).toArray());
        for (Place place : missing) {
            if (gone.take(place.hash) < 0) {
                note("lost", ++lost, "source", place);
            }
        }
        return new Comparison(
                source.records(),
                target.records(),
                lost,
                doubled,
                reordered,
                lastReordered,
                misrouted,
                unexpected,
                List.copyOf(examples));
    }

    private void comparePartition(int partition, long[] expected, long[] actual) {
        HashPositions positions = new HashPositions(expected);
        int[] firstCopyOf = new int[actual.length];
        long doubledBefore = doubled;
        int highest = NONE;
        for (int i = 0; i < actual.length; i++) {
            Place here = new Place(partition, i, actual[i]);
            int position = positions.take(actual[i]);
            firstCopyOf[i] = position;
            if (position > highest) {
                highest = position;
            } else if (position >= 0) {
                note("reordered", ++reordered, "target", here);
            } else if (positions.contains(actual[i])) {
                note("doubled", ++doubled, "target", here);
            } else {
                strangers.add(here);
            }
        }
        for (int i = 0; i < expected.length; i++) {
            if (!positions.isTaken(i)) {
                missing.add(new Place(partition, i, expected[i]));
            }
        }
        if (doubled > doubledBefore) {
            compareLastCopies(partition, expected, actual, firstCopyOf);
        }
    }

    /** Looks at doubled records only; the others were checked as first copies. */
    private void compareLastCopies(int partition, long[] expected, long[] actual, int[] firstCopyOf) {
        int[] lastCopyOf = lastCopies(expected, actual);
        int highest = NONE;
        for (int i = 0; i < actual.length; i++) {
            if (lastCopyOf[i] > highest) {
                highest = lastCopyOf[i];
            } else if (lastCopyOf[i] >= 0 && lastCopyOf[i] != firstCopyOf[i]) {
                note("last copy reordered", ++lastReordered, "target", new Place(partition, i, actual[i]));
            }
        }
    }

    /** For each record of the target: the index of the source's record whose last copy it is, or −1. */
    private static int[] lastCopies(long[] expected, long[] actual) {
        HashPositions fromTheEnd = new HashPositions(reversed(expected));
        int[] lastCopyOf = new int[actual.length];
        for (int i = actual.length - 1; i >= 0; i--) {
            int position = fromTheEnd.take(actual[i]);
            lastCopyOf[i] = position < 0 ? NONE : expected.length - 1 - position;
        }
        return lastCopyOf;
    }

    private static long[] reversed(long[] values) {
        long[] reversed = new long[values.length];
        for (int i = 0; i < values.length; i++) {
            reversed[i] = values[values.length - 1 - i];
        }
        return reversed;
    }

    private void note(String fault, long count, String where, Place place) {
        if (count <= MAX_EXAMPLES) {
            examples.add(String.format(
                    Locale.ROOT,
                    "%s: record %,d, from 0, of partition %d of the %s",
                    fault,
                    place.index,
                    place.partition,
                    where));
        }
    }

    private static long[] allOf(TopicDigest digest) {
        long[] all = new long[Math.toIntExact(digest.records())];
        int filled = 0;
        for (int partition = 0; partition < digest.partitions(); partition++) {
            long[] hashes = digest.partition(partition);
            System.arraycopy(hashes, 0, all, filled, hashes.length);
            filled += hashes.length;
        }
        return all;
    }

    private record Place(int partition, int index, long hash) {}
}
