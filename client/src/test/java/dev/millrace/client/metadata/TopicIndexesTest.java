package dev.millrace.client.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** A record finds its queue by this number: the same for two topics would be a record in the wrong one. */
class TopicIndexesTest {
    private final TopicIndexes indexes = new TopicIndexes();

    @Property(tries = 300)
    void shouldNumberNamesInTheOrderInWhichTheyAreFirstSeen(@ForAll("names") List<String> names) {
        TopicIndexes fresh = new TopicIndexes();
        Map<String, Integer> expected = new HashMap<>();

        for (String name : names) {
            expected.putIfAbsent(name, expected.size());
            assertThat(fresh.getOrAssign(name)).isEqualTo(expected.get(name));
        }
        expected.forEach(
                (name, index) -> assertThat(fresh.getOrAssign(name)).as(name).isEqualTo(index));
    }

    /** Of few letters, so that many are equal, and many others have equal hashes: as Aa and BB. */
    @Provide
    Arbitrary<List<String>> names() {
        return Arbitraries.strings()
                .withChars('A', 'B', 'a')
                .ofMaxLength(6)
                .list()
                .ofMaxSize(500);
    }

    @Test
    void shouldKeepEveryNumberWhenThereAreManyNames() {
        for (int i = 0; i < 100_000; i++) {
            assertThat(indexes.getOrAssign("topic-" + i)).isEqualTo(i);
        }
        for (int i = 0; i < 100_000; i++) {
            assertThat(indexes.getOrAssign("topic-" + i)).isEqualTo(i);
        }
    }
}
