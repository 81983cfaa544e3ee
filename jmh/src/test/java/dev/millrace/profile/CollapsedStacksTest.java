package dev.millrace.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class CollapsedStacksTest {
    @Test
    void shouldTakeFramesAndWeightWhenAFrameContainsSpaces() {
        CollapsedStacks stacks = CollapsedStacks.parse("a/A.run;I2C/C2I adapters 1061931\n\na/A.run 7\n");

        assertThat(stacks.stacks())
                .containsExactly(
                        new CollapsedStacks.Stack(List.of("a/A.run", "I2C/C2I adapters"), 1_061_931),
                        new CollapsedStacks.Stack(List.of("a/A.run"), 7));
        assertThat(stacks.total()).isEqualTo(1_061_938);
    }

    @Test
    void shouldKeepOnlyStacksThatSatisfyTheCondition() {
        CollapsedStacks stacks = CollapsedStacks.parse("a/A.run;b/B.go 1\na/A.run 7");

        assertThat(stacks.filter(frames -> frames.contains("b/B.go")).total()).isEqualTo(1);
    }

    @Test
    void shouldQuoteALineWhenItIsNotAStack() {
        assertThatThrownBy(() -> CollapsedStacks.parse("a/A.run;b/B.go"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Not a collapsed stack: a/A.run;b/B.go");
    }
}
