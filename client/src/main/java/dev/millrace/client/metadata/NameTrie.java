package dev.millrace.client.metadata;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A persistent map from names to entries that know their names: a changed map shares with the one before it all that
 * did not change. It is a hash trie (Bagwell, "Ideal Hash Trees", 2001), changed by copying the path to an entry
 * (Driscoll, Sarnak, Sleator and Tarjan, "Making Data Structures Persistent", 1989). For the look-up in {@code send} it
 * differs from both. Its leaves are tables with open addressing, so sparse that the first slot nearly always decides.
 * Up to {@link #FEW} entries there is a single leaf, and nothing above it; from then on there are always two levels of
 * 64 references above the leaves. So a look-up takes one or three steps, and reads no bitmaps.
 *
 * <p>A change of one entry copies two nodes of 64 references and the slots of one leaf, 128 with 100,000 entries; with
 * few entries the slots of the single leaf, at most 8,192.
 *
 * <p><b>Threads:</b> immutable; nothing writes to its arrays after construction. An {@link Editor} belongs to one
 * thread.
 * <p><b>Bounds:</b> 17 KB, and at most 32 bytes per entry, without the entry itself. Removed entries leave their slots
 * empty; a trie made by {@link #of} has none in excess. Beyond four million entries look-ups become slower, because
 * there are no more bits of the hash to choose a slot by.
 */
final class NameTrie<E extends Named> {
    /** The largest number of entries in a single leaf. */
    static final int FEW = 1_024;

    /** The first 6 bits of a hash choose a node, the next 6 one of its leaves. */
    private static final int NODE_SHIFT = 26;

    private static final int LEAF_SHIFT = 20;
    private static final int NODE_SIZE = 64;

    /** The last of the bits that choose the first slot in a leaf. */
    private static final int SLOT_SHIFT = 10;

    /** The least number of slots per entry; a power of two. */
    private static final int SPARSITY = 4;

    /** The slots of a leaf without entries. */
    private static final Named[] NO_SLOTS = new Named[1];

    private static final NameTrie<Named> EMPTY = new NameTrie<>(0, NO_SLOTS, null);

    private final int size;

    /** The slots of the single leaf; null if there are nodes. */
    private final Named[] single;

    /** The slots of each leaf, by node; null if there is a single leaf. */
    private final Named[][][] nodes;

    private NameTrie(int size, Named[] single, Named[][][] nodes) {
        this.size = size;
        this.single = single;
        this.nodes = nodes;
    }

    @SuppressWarnings("unchecked") // it has no entry of any type
    static <E extends Named> NameTrie<E> empty() {
        return (NameTrie<E>) EMPTY;
    }

    /** A trie of these entries; if several have one name, of the last of them. */
    static <E extends Named> NameTrie<E> of(List<E> entries) {
        if (entries.isEmpty()) {
            return empty();
        }
        int size = 0;
        if (entries.size() <= FEW) {
            Named[] single = new Named[slotsFor(entries.size())];
            for (E entry : entries) {
                size += insert(single, entry) ? 1 : 0;
            }
            return new NameTrie<>(size, single, null);
        }
        Named[][][] nodes = emptyLeaves(entries);
        for (E entry : entries) {
            size += insert(nodes[entry.hash >>> NODE_SHIFT][leafInNode(entry.hash)], entry) ? 1 : 0;
        }
        return new NameTrie<>(size, null, nodes);
    }

    /** Leaves that have room for these entries. */
    private static Named[][][] emptyLeaves(List<? extends Named> entries) {
        int[] counts = new int[NODE_SIZE * NODE_SIZE];
        for (Named entry : entries) {
            counts[entry.hash >>> LEAF_SHIFT]++;
        }
        Named[][][] nodes = new Named[NODE_SIZE][NODE_SIZE][];
        for (int leaf = 0; leaf < counts.length; leaf++) {
            nodes[leaf / NODE_SIZE][leaf % NODE_SIZE] =
                    counts[leaf] == 0 ? NO_SLOTS : new Named[slotsFor(counts[leaf])];
        }
        return nodes;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Null if there is no entry of this name. */
    @SuppressWarnings({"unchecked", "ReferenceEquality"}) // as slotOf, whose loop here makes it a fifteenth faster
    E get(String name) {
        int hash = Named.hash(name);
        Named[] slots = leaf(single, nodes, hash);
        int slot = hash >>> SLOT_SHIFT;
        while (true) {
            Named entry = slots[slot & (slots.length - 1)];
            if (entry == null || entry.name == name || (entry.hash == hash && entry.name.equals(name))) {
                return (E) entry;
            }
            slot++;
        }
    }

    /** Calls {@code action} with each entry, in no particular order. */
    @SuppressWarnings("unchecked") // only entries of this type are put
    void forEach(Consumer<? super E> action) {
        for (Named[][] node : single != null ? new Named[][][] {{single}} : nodes) {
            for (Named[] slots : node) {
                for (Named entry : slots) {
                    if (entry != null) {
                        action.accept((E) entry);
                    }
                }
            }
        }
    }

    Editor edit() {
        return new Editor();
    }

    private static Named[] leaf(Named[] single, Named[][][] nodes, int hash) {
        return single != null ? single : nodes[hash >>> NODE_SHIFT][leafInNode(hash)];
    }

    private static int leafInNode(int hash) {
        return (hash >>> LEAF_SHIFT) & (NODE_SIZE - 1);
    }

    /** The slot of this name, or the free one that it would get. */
    @SuppressWarnings("ReferenceEquality") // equals does this first, too, but with it a look-up takes a fifth longer
    private static int slotOf(Named[] slots, String name, int hash) {
        int slot = (hash >>> SLOT_SHIFT) & (slots.length - 1);
        while (true) {
            Named entry = slots[slot];
            if (entry == null || entry.name == name || (entry.hash == hash && entry.name.equals(name))) {
                return slot;
            }
            slot = (slot + 1) & (slots.length - 1);
        }
    }

    /** Returns whether there was no entry of this name. */
    private static boolean insert(Named[] slots, Named entry) {
        int slot = slotOf(slots, entry.name, entry.hash);
        boolean isNew = slots[slot] == null;
        slots[slot] = entry;
        return isNew;
    }

    /** The power of two that leaves {@code entries} sparse. */
    private static int slotsFor(int entries) {
        return entries == 0 ? 1 : Integer.highestOneBit(2 * SPARSITY * entries - 1);
    }

    /**
     * Makes the next trie. The first change in a leaf or a node copies it, later ones change the copy.
     *
     * <p><b>Threads:</b> one; of no use after {@link #toTrie}.
     */
    final class Editor {
        private int size = NameTrie.this.size;
        private Named[] single = NameTrie.this.single;
        private Named[][][] nodes = NameTrie.this.nodes;

        private Editor() {}

        /** As {@link NameTrie#get}, with the changes so far. */
        @SuppressWarnings("unchecked") // only entries of this type are put
        E get(String name) {
            int hash = Named.hash(name);
            Named[] slots = leaf(single, nodes, hash);
            return (E) slots[slotOf(slots, name, hash)];
        }

        /** Adds an entry, or replaces that of the same name. */
        void put(E entry) {
            Named[] slots = leaf(single, nodes, entry.hash);
            int slot = slotOf(slots, entry.name, entry.hash);
            if (slots[slot] == null) {
                add(entry);
            } else if (slots[slot] != entry) {
                ownLeaf(entry.hash)[slot] = entry;
            }
        }

        private void add(E entry) {
            size++;
            if (single != null && size > FEW) {
                spread();
            }
            Named[] slots = leaf(single, nodes, entry.hash);
            int needed = slotsFor(single != null ? size : count(slots) + 1);
            if (needed > slots.length) {
                setLeaf(entry.hash, copyOf(slots, needed));
            }
            insert(ownLeaf(entry.hash), entry);
        }

        /** Moves the entries of the single leaf to leaves below nodes. */
        private void spread() {
            List<Named> entries = Arrays.stream(single).filter(Objects::nonNull).toList();
            nodes = emptyLeaves(entries);
            single = null;
            entries.forEach(entry -> insert(leaf(null, nodes, entry.hash), entry));
        }

        /** Removes the entry of this name, if there is one. */
        void remove(String name) {
            int hash = Named.hash(name);
            Named[] slots = leaf(single, nodes, hash);
            int slot = slotOf(slots, name, hash);
            if (slots[slot] != null) {
                free(ownLeaf(hash), slot);
                size--;
            }
        }

        /** This editor's own slots of the leaf of these entries. */
        private Named[] ownLeaf(int hash) {
            Named[] slots = leaf(single, nodes, hash);
            if (slots == leaf(NameTrie.this.single, NameTrie.this.nodes, hash)) {
                slots = slots.clone();
                setLeaf(hash, slots);
            }
            return slots;
        }

        private void setLeaf(int hash, Named[] slots) {
            if (single != null) {
                single = slots;
                return;
            }
            Named[][][] before = NameTrie.this.nodes;
            int node = hash >>> NODE_SHIFT;
            if (nodes == before) {
                nodes = nodes.clone();
            }
            if (before != null && nodes[node] == before[node]) {
                nodes[node] = nodes[node].clone();
            }
            nodes[node][leafInNode(hash)] = slots;
        }

        /** The trie with all changes; the one before if nothing changed. */
        NameTrie<E> toTrie() {
            if (size == 0) {
                return empty();
            }
            boolean isSame = single == NameTrie.this.single && nodes == NameTrie.this.nodes;
            return isSame ? NameTrie.this : new NameTrie<>(size, single, nodes);
        }
    }

    private static int count(Named[] slots) {
        int count = 0;
        for (Named entry : slots) {
            count += entry == null ? 0 : 1;
        }
        return count;
    }

    private static Named[] copyOf(Named[] slots, int length) {
        Named[] copy = new Named[length];
        for (Named entry : slots) {
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
    private static void free(Named[] slots, int slot) {
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
