package dev.millrace.mirror.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.text.MirrorException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicPatternTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
                    orders              ; orders        ; payments
                    orders|payments     ; payments      ; orderspayments
                    orders,payments     ; payments      ; orderspayments
                    orders , payments   ; orders        ; 'orders '
                    logs-.*,orders      ; logs-a        ; logs
                    x(a,b)y             ; xby           ; xa
                    x{1,3}              ; xxx           ; xxxx
                    x{2,},y             ; xx            ; x
                    x{2,},y             ; y             ; x
                    (?i)a,b             ; B             ; c
                    """)
    void shouldTakeOneExpressionOrSeveralWithCommas(String topics, String matching, String other) {
        Pattern pattern = TopicPattern.parse("--topics", topics);

        assertThat(matching).matches(pattern);
        assertThat(other).doesNotMatch(pattern);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
                    .*            ; logs-.*       ; orders    ; logs-a
                    .*            ; logs          ; logs-a    ; logs
                    a|b|c         ; b,c           ; a         ; c
                    a.*           ; (?i)ab        ; aB1       ; aB
                    (?i)a.*       ; ab            ; AB        ; ab
                    a,bc          ; b             ; bc        ; b
                    """)
    void shouldLeaveOutWhatIsExcluded(String topics, String excluded, String matching, String other) {
        Pattern pattern = InternalTopics.excludedFrom(TopicPattern.without(
                TopicPattern.parse("--topics", topics), TopicPattern.parse("--exclude-topics", excluded)));

        assertThat(matching).matches(pattern);
        assertThat(other).doesNotMatch(pattern);
        assertThat("__internal").doesNotMatch(pattern);
    }

    @Test
    void shouldLeaveOutInternalTopicsOfEveryExpression() {
        Pattern pattern = InternalTopics.excludedFrom(TopicPattern.parse("--topics", "a,_.*"));

        assertThat("_b").matches(pattern);
        assertThat("__b").doesNotMatch(pattern);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mm2-offsets.old.internal",
                "mm2-offset-syncs.old.internal",
                "mm2__configs.internal",
                "old.checkpoints.internal"
            })
    void shouldLeaveOutTopicsOfMirrorMaker2(String internal) {
        Pattern pattern = InternalTopics.excludedFrom(TopicPattern.parse("--topics", ".*"));

        assertThat(internal).doesNotMatch(pattern);
        assertThat(internal + "s").matches(pattern);
        assertThat("x" + internal.replace("checkpoints", "events")).matches(pattern);
    }

    @ParameterizedTest
    @ValueSource(strings = {"heartbeats", "old.heartbeats", "orders.internal", "checkpoints.internal", "mm2"})
    void shouldTakeOthersWithSimilarNames(String topic) {
        assertThat(topic).matches(InternalTopics.excludedFrom(TopicPattern.parse("--topics", ".*")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"(?x)a #b", "\\Qa", "a)", "[", "*", "a{2", "", "  "})
    void shouldShowWhatTheUserWroteWithoutAdditions(String topics) {
        assertThatThrownBy(() -> TopicPattern.parse("--exclude-topics", topics))
                .isInstanceOfSatisfying(
                        MirrorException.class, e -> assertThat(e.exitCode()).isEqualTo(2))
                .hasMessageStartingWith("--exclude-topics '" + topics + "': ")
                .hasMessageNotContaining("__");
    }
}
