package dev.millrace.client.metadata;

/** What a {@link NameTrie} holds: something with a name. Immutable. */
abstract class Named {
    /**
     * 2^32 divided by the golden ratio: spreads names that differ in their last letters only (Knuth, volume 3, 6.4).
     */
    private static final int HASH_MULTIPLIER = 0x9E3779B9;

    final String name;

    /** Kept here, so that a look-up reads no other name than its own, unless the hashes are equal. */
    final int hash;

    Named(String name) {
        this.name = name;
        this.hash = hash(name);
    }

    static int hash(String name) {
        return name.hashCode() * HASH_MULTIPLIER;
    }
}
