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

/** A record finds its queue by this number: the same for two topics would be a record in the wrong one. */
class TopicIndexesTest {
    @Property(tries = 300)
    void shouldKeepTheNumberOfEachNameThatLeavesAndComesBack(@ForAll("names") List<String> names) {
        TopicIndexes indexes = new TopicIndexes();
        Map<String, Integer> expected = new HashMap<>();

        for (String name : names) {
            expected.putIfAbsent(name, expected.size());
            int index = indexes.getOrAssign(name);
            assertThat(index).isEqualTo(expected.get(name));
            indexes.keep(TestTopics.topic(name, 1, 1).withIndex(index));
        }
    }

    /** Of few letters, so that many come back. */
    @Provide
    Arbitrary<List<String>> names() {
        return Arbitraries.strings()
                .withChars('A', 'B', 'a')
                .ofMaxLength(3)
                .list()
                .ofMaxSize(200);
    }
}
