package dev.millrace.mirror.topics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.config.TopicNames;
import dev.millrace.mirror.config.TopicNamesTest;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RefusedTopicsTest {
    private final RefusedTopics refused =
            new RefusedTopics(TopicNamesTest.config("a.*", TopicNames.of("", Map.of("a1", "a2"))));

    @Test
    void shouldCountTheTopicsThatCannotHaveTheirNamesNow() {
        refused.look(Set.of("a1", "a3", "b"));
        assertThat(refused.count()).isZero();

        refused.look(Set.of("a1", "a2", "a3", "b"));
        assertThat(refused.count()).isEqualTo(1);

        refused.look(Set.of("a1", "a3"));
        assertThat(refused.count()).as("it was deleted").isZero();
    }
}
