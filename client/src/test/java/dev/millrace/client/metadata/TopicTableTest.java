package dev.millrace.client.metadata;

import static dev.millrace.client.metadata.TestTopics.topic;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A {@link HashMap} is the oracle. */
class TopicTableTest {
    @Test
    void shouldFindWhatAMapFindsWhateverTheNumberOfTopics() {
        for (int size = 0; size < 300; size++) {
            Map<String, TopicImage> map = new HashMap<>();
            for (int i = 0; i < size; i++) {
                map.put("topic-" + i, topic("topic-" + i, 1, 0));
            }

            assertSame(map, new TopicTable(map.values()));
        }
    }

    /** They all begin at one slot, and go on in those behind it. */
    @Test
    void shouldTellNamesOfTheSameHashFromEachOther() {
        List<String> equals = List.of("Aa", "BB");
        List<String> names = IntStream.range(0, 256)
                .mapToObj(bits -> IntStream.range(0, 8)
                        .mapToObj(i -> equals.get(bits >> i & 1))
                        .collect(Collectors.joining()))
                .toList();
        assertThat(names).extracting(String::hashCode).containsOnly(names.get(0).hashCode());
        for (int missing = 0; missing < names.size(); missing++) {
            Map<String, TopicImage> map = new HashMap<>();
            for (int i = 0; i < names.size(); i += 1 + missing) {
                map.put(names.get(i), topic(names.get(i), 1, 0));
            }
            TopicTable table = new TopicTable(map.values());

            assertSame(map, table);
            names.forEach(name -> assertThat(table.get(name)).isSameAs(map.get(name)));
        }
    }

    @Test
    void shouldFindANameThatIsEqualButAnotherObject() {
        TopicImage topic = topic("t", 1, 0);

        assertThat(new TopicTable(List.of(topic)).get(String.valueOf(new char[] {'t'})))
                .isSameAs(topic);
    }

    private static void assertSame(Map<String, TopicImage> map, TopicTable table) {
        assertThat(table.size()).isEqualTo(map.size());
        assertThat(table.toMap()).isEqualTo(map);
        map.forEach((name, topic) -> assertThat(table.get(name)).isSameAs(topic));
        for (int i = 0; i < 100; i++) {
            assertThat(table.get("other-" + i)).isNull();
        }
    }
}
