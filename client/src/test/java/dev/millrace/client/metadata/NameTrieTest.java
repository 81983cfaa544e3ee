package dev.millrace.client.metadata;

import static dev.millrace.client.metadata.TestTopics.topic;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** A {@link HashMap} is the oracle. */
class NameTrieTest {
    private static final int NAMES = 3 * NameTrie.FEW;
    private static final int NAMES_OF_ONE_HASH = 256;

    /** The first names have one hash: they all begin at one slot, and go on in those after it. */
    private static final List<String> POOL = IntStream.range(0, NAMES)
            .mapToObj(i -> i < NAMES_OF_ONE_HASH ? nameOfOneHash(i) : "topic-" + i)
            .toList();

    private static String nameOfOneHash(int bits) {
        List<String> equals = List.of("Aa", "BB");
        return IntStream.range(0, 8).mapToObj(i -> equals.get(bits >> i & 1)).collect(Collectors.joining());
    }

    private static TopicImage entry(String name) {
        return topic(name, 1, 1);
    }

    private record Version(NameTrie trie, Map<String, TopicImage> map) {
        static Version ofFirst(int entries) {
            Map<String, TopicImage> map = new HashMap<>();
            POOL.subList(0, entries).forEach(name -> map.put(name, entry(name)));
            return new Version(NameTrie.of(map.values().toArray(TopicImage[]::new)), map);
        }

        /** Puts the names with these numbers, and removes those with their negatives. */
        Version with(List<Integer> changes) {
            NameTrie.Editor next = trie.edit();
            Map<String, TopicImage> nextMap = new HashMap<>(map);
            for (int change : changes) {
                String name = POOL.get(Math.abs(change));
                if (change < 0) {
                    next.remove(name);
                    nextMap.remove(name);
                } else {
                    TopicImage entry = entry(name);
                    next.put(entry);
                    nextMap.put(name, entry);
                }
                assertThat(next.get(name)).isSameAs(nextMap.get(name));
            }
            return new Version(next.toTrie(), nextMap);
        }

        void check() {
            assertThat(trie.size()).isEqualTo(map.size());
            assertThat(trie.isEmpty()).isEqualTo(map.isEmpty());
            for (String name : POOL) {
                if (trie.get(name) != map.get(name)) { // an assertion for each would take most of the time
                    throw new AssertionError("They differ in " + name);
                }
            }
        }
    }

    @Property(tries = 200)
    void shouldHoldWhatAMapHoldsInEachOfItsVersions(
            @ForAll @IntRange(max = NAMES) int first,
            @ForAll @Size(max = 20)
                    List<@Size(max = 100) List<@IntRange(min = -NAMES + 1, max = NAMES - 1) Integer>> edits) {
        List<Version> versions = new ArrayList<>();
        versions.add(Version.ofFirst(first));

        for (List<Integer> changes : edits) {
            versions.add(versions.get(versions.size() - 1).with(changes));
        }

        versions.forEach(Version::check);
    }

    @Property(tries = 100)
    void shouldTellNamesOfTheSameHashFromEachOther(
            @ForAll @IntRange(max = NAMES_OF_ONE_HASH) int first,
            @ForAll @Size(max = 500)
                    List<@IntRange(min = -NAMES_OF_ONE_HASH + 1, max = NAMES_OF_ONE_HASH - 1) Integer> changes) {
        Version before = Version.ofFirst(first);

        Version after = before.with(changes);

        before.check();
        after.check();
    }

    @Test
    void shouldHoldWhatAMapHoldsWhateverTheNumberOfEntries() {
        for (int size : List.of(0, 1, 2, 3, 4, 5, 255, NameTrie.FEW - 1, NameTrie.FEW, NameTrie.FEW + 1, NAMES)) {
            Version.ofFirst(size).check();
        }
    }

    @Test
    void shouldGrowOneByOneAndShrinkToNothing() {
        NameTrie trie = NameTrie.empty();
        for (String name : POOL) {
            NameTrie.Editor next = trie.edit();
            next.put(entry(name));
            trie = next.toTrie();
        }
        assertThat(trie.size()).isEqualTo(NAMES);

        NameTrie.Editor none = trie.edit();
        POOL.forEach(none::remove);

        new Version(none.toTrie(), Map.of()).check();
    }

    /** Many of the leaves that the growth makes are empty, and all empty ones are the same array at first. */
    @Test
    void shouldGrowToManyLeavesWithoutAChangeOfAnotherTrie() {
        Version few = Version.ofFirst(NameTrie.FEW);
        List<Integer> others =
                IntStream.range(NameTrie.FEW, NameTrie.FEW + 200).boxed().toList();

        Version grown = few.with(others);

        Version.ofFirst(NameTrie.FEW + 1).check();
        few.check();
        grown.check();
    }

    @Test
    void shouldStayTheSameObjectWhenNothingChanges() {
        for (int size : List.of(0, 1, NAMES - 1)) {
            Version version = Version.ofFirst(size);
            NameTrie.Editor same = version.trie().edit();

            version.map().values().forEach(same::put);
            same.remove(POOL.get(NAMES - 1));

            assertThat(same.toTrie()).isSameAs(version.trie());
        }
    }

    @Test
    void shouldTakeTheLastOfSeveralEntriesOfOneName() {
        TopicImage last = entry("t");

        NameTrie trie = NameTrie.of(new TopicImage[] {entry("t"), entry("u"), last});

        assertThat(trie.get("t")).isSameAs(last);
        assertThat(trie.size()).isEqualTo(2);
    }

    @Test
    void shouldFindANameThatIsEqualButAnotherObject() {
        TopicImage entry = entry("t");

        assertThat(NameTrie.of(new TopicImage[] {entry}).get(String.valueOf(new char[] {'t'})))
                .isSameAs(entry);
    }
}
