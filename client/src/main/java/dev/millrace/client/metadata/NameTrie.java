package dev.millrace.client.metadata;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A persistent map from names to entries that know their names: a changed map shares everything unchanged with the
 * previous one. It is a hash trie (Bagwell, "Ideal Hash Trees", 2001), changed by copying the path to an entry
 * (Driscoll, Sarnak, Sleator and Tarjan, "Making Data Structures Persistent", 1989). For the look-up in {@code send} it
 * differs from both. It has one level, of 1,024 leaves, because a look-up waits for each level and happens for every
 * record, while changes are rare. Its leaves are tables with open addressing, so sparse that the first slot mostly
 * decides. Up to {@link #FEW} entries there is a single leaf, and nothing above it.
 *
 * <p>A change of one entry copies 1,024 references and the slots of one leaf, 256 with 100,000 entries; with few
 * entries the slots of the single leaf, at most 8,192.
 *
 * <p><b>Threads:</b> immutable; nothing writes to its arrays after construction. An {@link Editor} belongs to one
 * thread.
 * <p><b>Bounds:</b> 22 KB, and at most 32 bytes per entry, without the entry itself. Removed entries leave their slots
 * empty; a trie made by {@link #of} has none in excess. Beyond four million entries look-ups become slower, because
 * there are no more bits of the hash to choose a slot by.
 */
final class NameTrie {
    /** The largest number of entries in a single leaf. */
    static final int FEW = 1_024;

    private static final int LEAVES = 1_024;

    /** The first 10 bits of a hash choose a leaf. */
    private static final int LEAF_SHIFT = 22;

    /** The last of the bits that choose the first slot in a leaf. */
    private static final int SLOT_SHIFT = 8;

    /**
     * The least number of slots per entry, powers of two. More of them make look-ups among a thousand names a fourth
     * faster, but not among many, where the slots no longer fit into the cache.
     */
    private static final int SLOTS_IN_SINGLE_LEAF = 4;

    private static final int SLOTS_IN_LEAF = 2;

    /** The slots of a leaf without entries. Like all leaves it has two or more: an int cannot be shifted by 32 bits. */
    private static final TopicImage[] NO_SLOTS = new TopicImage[2];

    private static final NameTrie EMPTY = new NameTrie(0, NO_SLOTS, null, null);

    private final int size;

    /** The slots of the single leaf; null if there are many. */
    private final TopicImage[] single;

    /** The slots of each leaf; null if there is a single one. */
    private final TopicImage[][] leaves;

    /**
     * By leaf, the number of leading zeros in its slots' mask; null if there is a single leaf. A look-up that read the
     * length from the leaf itself would wait once more for memory.
     */
    private final byte[] maskZeros;

    private NameTrie(int size, TopicImage[] single, TopicImage[][] leaves, byte[] maskZeros) {
        this.size = size;
        this.single = single;
        this.leaves = leaves;
        this.maskZeros = maskZeros;
    }

    static NameTrie empty() {
        return EMPTY;
    }

    /** Returns a trie of these entries; if several have one name, the last of them counts. */
    static NameTrie of(TopicImage[] entries) {
        if (entries.length == 0) {
            return empty();
        }
        if (entries.length <= FEW) {
            int size = 0;
            TopicImage[] single = new TopicImage[slotsFor(entries.length, SLOTS_IN_SINGLE_LEAF)];
            for (TopicImage entry : entries) {
                size += insert(single, entry) ? 1 : 0;
            }
            return new NameTrie(size, single, null, null);
        }
        Leaves made = Leaves.of(entries);
        return new NameTrie(made.size, null, made.slots, made.maskZeros);
    }

    /** The leaves of a trie of many entries. */
    private record Leaves(int size, TopicImage[][] slots, byte[] maskZeros) {
        /** Fills one leaf after the other, so that each is in the cache while it is filled. */
        static Leaves of(TopicImage[] entries) {
            long[] sorted = sortedByLeaf(entries);
            TopicImage[][] leaves = new TopicImage[LEAVES][];
            byte[] maskZeros = new byte[LEAVES];
            int size = 0;
            int from = 0;
            for (int leaf = 0; leaf < LEAVES; leaf++) {
                int to = from;
                while (to < sorted.length && (int) (sorted[to] >>> (Integer.SIZE + LEAF_SHIFT)) == leaf) {
                    to++;
                }
                TopicImage[] slots = from == to ? NO_SLOTS : new TopicImage[slotsFor(to - from, SLOTS_IN_LEAF)];
                for (; from < to; from++) {
                    TopicImage entry = entries[(int) sorted[from]];
                    size += insert(slots, entry, (int) (sorted[from] >>> Integer.SIZE)) ? 1 : 0;
                }
                leaves[leaf] = slots;
                maskZeros[leaf] = leadingZeros(slots);
            }
            return new Leaves(size, leaves, maskZeros);
        }

        /** Returns the hash of each entry in the upper half, and its place in {@code entries} in the lower. */
        private static long[] sortedByLeaf(TopicImage[] entries) {
            int[] next = new int[LEAVES + 1];
            for (TopicImage entry : entries) {
                next[(entry.hash >>> LEAF_SHIFT) + 1]++;
            }
            for (int leaf = 1; leaf < LEAVES; leaf++) {
                next[leaf] += next[leaf - 1];
            }
            long[] sorted = new long[entries.length];
            for (int i = 0; i < entries.length; i++) {
                int hash = entries[i].hash;
                sorted[next[hash >>> LEAF_SHIFT]++] = ((long) hash << Integer.SIZE) | i;
            }
            return sorted;
        }

        /** Does the same as {@link NameTrie#insert} without reading the entry if its first slot is free. */
        private static boolean insert(TopicImage[] slots, TopicImage entry, int hash) {
            int first = (hash >>> SLOT_SHIFT) & (slots.length - 1);
            if (slots[first] != null) {
                return NameTrie.insert(slots, entry);
            }
            slots[first] = entry;
            return true;
        }
    }

    private static byte leadingZeros(TopicImage[] slots) {
        return (byte) Integer.numberOfLeadingZeros(slots.length - 1);
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns the entry; null if there is none of this name. */
    TopicImage get(String name) {
        return get(name, TopicImage.hash(name));
    }

    /** Returns the entry of this name, whose hash is {@code hash}; null if there is none. */
    @SuppressWarnings("ReferenceEquality") // as slotOf, whose loop here makes it a fifteenth faster
    TopicImage get(String name, int hash) {
        TopicImage[] slots = single;
        int mask;
        if (slots != null) {
            mask = slots.length - 1;
        } else {
            slots = leaves[hash >>> LEAF_SHIFT];
            mask = -1 >>> maskZeros[hash >>> LEAF_SHIFT];
        }
        int slot = hash >>> SLOT_SHIFT;
        while (true) {
            TopicImage entry = slots[slot & mask];
            if (entry == null || entry.name == name || (entry.hash == hash && entry.name.equals(name))) {
                return entry;
            }
            slot++;
        }
    }

    /** Returns all entries, in no particular order. */
    List<TopicImage> entries() {
        List<TopicImage> entries = new ArrayList<>(size);
        for (TopicImage[] slots : single != null ? new TopicImage[][] {single} : leaves) {
            for (TopicImage entry : slots) {
                if (entry != null) {
                    entries.add(entry);
                }
            }
        }
        return entries;
    }

    Editor edit() {
        return new Editor();
    }

    private static TopicImage[] leaf(TopicImage[] single, TopicImage[][] leaves, int hash) {
        return single != null ? single : leaves[hash >>> LEAF_SHIFT];
    }

    /** Returns the slot of this name, or the free one that it would get. */
    @SuppressWarnings("ReferenceEquality") // equals also does this first, but with it a look-up takes a fifth longer
    private static int slotOf(TopicImage[] slots, String name, int hash) {
        int slot = (hash >>> SLOT_SHIFT) & (slots.length - 1);
        while (true) {
            TopicImage entry = slots[slot];
            if (entry == null || entry.name == name || (entry.hash == hash && entry.name.equals(name))) {
                return slot;
            }
            slot = (slot + 1) & (slots.length - 1);
        }
    }

    /** Returns whether there was no entry of this name. */
    private static boolean insert(TopicImage[] slots, TopicImage entry) {
        int slot = slotOf(slots, entry.name, entry.hash);
        boolean isNew = slots[slot] == null;
        slots[slot] = entry;
        return isNew;
    }

    /** Returns the power of two that has at least {@code perEntry} slots for each of one or more entries. */
    private static int slotsFor(int entries, int perEntry) {
        return Integer.highestOneBit(2 * perEntry * entries - 1);
    }

    /**
     * Builds the next trie. The first change in a leaf or a node copies it, later ones change the copy.
     *
     * <p><b>Threads:</b> one; of no use after {@link #toTrie}.
     */
    final class Editor {
        private int size = NameTrie.this.size;
        private TopicImage[] single = NameTrie.this.single;
        private TopicImage[][] leaves = NameTrie.this.leaves;
        private byte[] maskZeros = NameTrie.this.maskZeros;

        private Editor() {}

        boolean isEmpty() {
            return size == 0;
        }

        /** Does the same as {@link NameTrie#get}, with the changes so far. */
        TopicImage get(String name) {
            int hash = TopicImage.hash(name);
            TopicImage[] slots = leaf(single, leaves, hash);
            return slots[slotOf(slots, name, hash)];
        }

        /** Adds an entry, or replaces that of the same name. */
        void put(TopicImage entry) {
            TopicImage[] slots = leaf(single, leaves, entry.hash);
            int slot = slotOf(slots, entry.name, entry.hash);
            if (slots[slot] == null) {
                add(entry);
            } else if (slots[slot] != entry) {
                ownLeaf(entry.hash)[slot] = entry;
            }
        }

        private void add(TopicImage entry) {
            size++;
            if (single != null && size > FEW) {
                spread();
            }
            TopicImage[] slots = leaf(single, leaves, entry.hash);
            int needed =
                    single != null ? slotsFor(size, SLOTS_IN_SINGLE_LEAF) : slotsFor(count(slots) + 1, SLOTS_IN_LEAF);
            if (needed > slots.length) {
                setLeaf(entry.hash, copyOf(slots, needed));
            }
            insert(ownLeaf(entry.hash), entry);
        }

        /** Spreads the entries of the single leaf over many. */
        private void spread() {
            TopicImage[] entries =
                    Arrays.stream(single).filter(Objects::nonNull).toArray(TopicImage[]::new);
            Leaves made = Leaves.of(entries);
            leaves = made.slots;
            maskZeros = made.maskZeros;
            single = null;
        }

        /** Removes the entry of this name, and returns it; null if there is none. */
        TopicImage remove(String name) {
            int hash = TopicImage.hash(name);
            TopicImage[] slots = leaf(single, leaves, hash);
            int slot = slotOf(slots, name, hash);
            TopicImage entry = slots[slot];
            if (entry != null) {
                free(ownLeaf(hash), slot);
                size--;
            }
            return entry;
        }

        /** Returns this editor's own slots of the leaf of these entries; {@link #NO_SLOTS} belong to no editor. */
        private TopicImage[] ownLeaf(int hash) {
            TopicImage[] slots = leaf(single, leaves, hash);
            if (slots == NO_SLOTS || slots == leaf(NameTrie.this.single, NameTrie.this.leaves, hash)) {
                slots = slots.clone();
                setLeaf(hash, slots);
            }
            return slots;
        }

        private void setLeaf(int hash, TopicImage[] slots) {
            if (single != null) {
                single = slots;
                return;
            }
            if (leaves == NameTrie.this.leaves) {
                leaves = leaves.clone();
            }
            leaves[hash >>> LEAF_SHIFT] = slots;
            setMaskZeros(hash >>> LEAF_SHIFT, leadingZeros(slots));
        }

        private void setMaskZeros(int leaf, byte zeros) {
            if (maskZeros[leaf] == zeros) {
                return;
            }
            if (maskZeros == NameTrie.this.maskZeros) {
                maskZeros = maskZeros.clone();
            }
            maskZeros[leaf] = zeros;
        }

        /** Returns the trie with all changes; the previous one if nothing changed. */
        NameTrie toTrie() {
            if (size == 0) {
                return empty();
            }
            boolean isSame = single == NameTrie.this.single && leaves == NameTrie.this.leaves;
            return isSame ? NameTrie.this : new NameTrie(size, single, leaves, maskZeros);
        }
    }

    private static int count(TopicImage[] slots) {
        int count = 0;
        for (TopicImage entry : slots) {
            count += entry == null ? 0 : 1;
        }
        return count;
    }

    private static TopicImage[] copyOf(TopicImage[] slots, int length) {
        TopicImage[] copy = new TopicImage[length];
        for (TopicImage entry : slots) {
            if (entry != null) {
                insert(copy, entry);
            }
        }
        return copy;
    }

    /**
     * Frees a slot, and moves later entries towards their first slots, so that each is still found before a free slot
     * (Knuth, volume 3, 6.4, algorithm R).
     */
    private static void free(TopicImage[] slots, int slot) {
        int mask = slots.length - 1;
        int free = slot;
        slots[free] = null;
        for (int i = (free + 1) & mask; slots[i] != null; i = (i + 1) & mask) {
            int first = (slots[i].hash >>> SLOT_SHIFT) & mask;
            if (((i - first) & mask) >= ((i - free) & mask)) {
                slots[free] = slots[i];
                slots[i] = null;
                free = i;
            }
        }
    }
}
