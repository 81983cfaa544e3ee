package dev.millrace.mirror.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.text.MirrorException;
import org.apache.kafka.common.internals.Topic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RefusalPoliciesTest {
    @ParameterizedTest
    @ValueSource(strings = {"{topic}.dead-letter", "dead.{topic}", "{topic}.of.{topic}", "{topic}", "dead"})
    void shouldNameATopicThatMayBeCreatedHoweverLongTheNameOfTheOtherIs(String template) {
        RefusalPolicies policies = new RefusalPolicies(ByTopic.ofAll(RefusalPolicy.DEAD_LETTER), template);
        assertThat(policies.deadLetterTopic("orders")).isEqualTo(template.replace("{topic}", "orders"));

        String one = policies.deadLetterTopic("x".repeat(248) + "1");
        String two = policies.deadLetterTopic("x".repeat(248) + "2");

        Topic.validate(one);
        if (template.contains("{topic}")) {
            assertThat(one).isNotEqualTo(two);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "{topik}", "{topic}/dead", ".."})
    void shouldRefuseWhatIsNoNameOfATopic(String template) {
        assertThatThrownBy(() -> new RefusalPolicies(ByTopic.ofAll(RefusalPolicy.DEAD_LETTER), template))
                .isInstanceOf(MirrorException.class)
                .hasMessageContaining("--dead-letter-topic " + template)
                .hasMessageContaining("letters, digits");
    }

    @Test
    void shouldRefuseANameThatLeavesNoRoomForThatOfATopic() {
        assertThatThrownBy(() -> new RefusalPolicies(ByTopic.ofAll(RefusalPolicy.SKIP), "{topic}" + "x".repeat(240)))
                .isInstanceOf(MirrorException.class)
                .hasMessageContaining("up to 249");
    }
}
