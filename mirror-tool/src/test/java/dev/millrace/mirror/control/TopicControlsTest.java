package dev.millrace.mirror.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class TopicControlsTest {
    private static final Optional<Pattern> ALL = Optional.empty();

    private final TopicControls controls = new TopicControls(() -> 0);
    private final TopicGate known = controls.of("orders");

    @Test
    void shouldPauseTopicsThatItKnowsAndThoseThatComeLater() {
        controls.pause(topics("orders|logs-.*"));

        assertThat(known.isPaused()).isTrue();
        assertThat(known.maxAhead()).isZero();
        assertThat(controls.of("logs-1").isPaused()).isTrue();
        assertThat(controls.of("payments").isPaused()).isFalse();
        assertThat(controls.of("orders")).isSameAs(known);
    }

    @Test
    void shouldHaveTheLastRuleThatMatchesHold() {
        controls.pause(ALL);
        controls.resume(topics("orders"));
        assertThat(known.isPaused()).isFalse();
        assertThat(controls.of("payments").isPaused()).isTrue();
        assertThat(controls.state().describe()).isEqualTo("paused: all topics, then not orders");

        controls.pause(topics("orders"));
        assertThat(known.isPaused()).isTrue();
        assertThat(controls.state().describe()).isEqualTo("paused: all topics, then orders");

        controls.resume(ALL);
        assertThat(known.isPaused()).isFalse();
        assertThat(controls.state().pauses()).isEmpty();
    }

    @Test
    void shouldForgetRulesThatPauseNothing() {
        controls.pause(topics("orders"));
        controls.resume(topics("orders"));
        controls.resume(topics("logs"));
        controls.throttle(topics("orders"), 1_000);
        controls.throttle(topics("orders"), ByteRate.NONE);

        assertThat(controls.state()).isEqualTo(ControlState.NONE);
    }

    @Test
    void shouldReadLessAheadTheSmallerTheLimitIs() {
        assertThat(known.maxAhead()).isEqualTo(TopicGate.UNLIMITED);
        controls.throttle(ALL, 800_000);
        assertThat(known.maxAhead()).isEqualTo(100_000);
        controls.throttle(topics("orders"), 400_000);
        assertThat(known.maxAhead()).isEqualTo(50_000);
        assertThat(controls.of("logs").maxAhead()).isEqualTo(100_000);
        controls.throttle(topics("orders"), 1_000);
        assertThat(known.maxAhead()).isEqualTo(16 << 10);
        controls.throttle(ALL, 1_000_000_000_000L);
        assertThat(controls.of("logs").maxAhead()).isEqualTo(1 << 20);
    }

    @Test
    void shouldDescribeAllThatHolds() {
        assertThat(controls.state().describe()).isEmpty();
        controls.throttle(topics("logs-.*"), 500_000);
        assertThat(controls.state().describe()).isEqualTo("throttle: 500 KB/s for each of logs-.*");
        controls.throttle(ALL, 10_000_000);
        controls.pause(topics("orders"));
        assertThat(controls.state().describe())
                .isEqualTo("paused: orders; throttle: 10 MB/s for all together, 500 KB/s for each of logs-.*");
    }

    private static Optional<Pattern> topics(String expression) {
        return Optional.of(Pattern.compile(expression));
    }
}
