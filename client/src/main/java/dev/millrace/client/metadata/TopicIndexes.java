package dev.millrace.client.metadata;

import java.util.Arrays;

/**
 * Assigns each topic name a number: 0, 1, 2, … in the order in which the producer first sees them. Code that keeps an
 * object per topic then finds it in an array instead of looking up the name a second time.
 *
 * <p><b>Threads:</b> one at a time: {@link ClusterImages} makes each image under its lock. A name keeps its number, and
 * a number its name, for the producer's lifetime, even if the topic is forgotten or deleted: a record with another
 * topic's number would go to that other topic.
 * <p><b>Bounds:</b> grows with the number of different names that were ever answered for: at most 40 bytes each, and
 * the name itself, mostly 56 to 80.
 */
final class TopicIndexes {
    private static final int FIRST_SIZE = 16;
    private static final int FREE = 0;

    /** By number. */
    private String[] names = new String[FIRST_SIZE];

    private int count;

    /**
     * A hash table with open addressing and linear probing, at most half full. A slot has the hash of a name in its
     * upper half, and in its lower one the name's number plus one, or is {@link #FREE}.
     */
    private long[] slots = new long[2 * FIRST_SIZE];

    /** The number of {@code name}; assigns the next one at the first call. */
    int getOrAssign(String name) {
        int hash = Named.hash(name);
        int slot = firstSlot(hash);
        while (slots[slot] != FREE) {
            int index = (int) slots[slot] - 1;
            if ((int) (slots[slot] >>> Integer.SIZE) == hash && names[index].equals(name)) {
                return index;
            }
            slot = next(slot);
        }
        return assign(name, hash, slot);
    }

    private int assign(String name, int hash, int slot) {
        if (count == names.length) {
            grow();
            return getOrAssign(name);
        }
        int index = count++;
        names[index] = name;
        slots[slot] = ((long) hash << Integer.SIZE) | (index + 1);
        return index;
    }

    private void grow() {
        names = Arrays.copyOf(names, 2 * count);
        long[] before = slots;
        slots = new long[2 * before.length];
        for (long taken : before) {
            if (taken != FREE) {
                int slot = firstSlot((int) (taken >>> Integer.SIZE));
                while (slots[slot] != FREE) {
                    slot = next(slot);
                }
                slots[slot] = taken;
            }
        }
    }

    private int firstSlot(int hash) {
        return hash >>> (Integer.numberOfLeadingZeros(slots.length) + 1);
    }

    private int next(int slot) {
        return (slot + 1) & (slots.length - 1);
    }
}
