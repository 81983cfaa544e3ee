package dev.millrace.mirror.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class NameColumnTest {
    @Test
    void shouldBeAsWideAsItsNames() {
        NameColumn names = NameColumn.of("topic", Stream.of("a", "payments"));

        assertThat(names.cell("topic")).isEqualTo("topic   ");
        assertThat(names.cell("payments")).isEqualTo("payments");
    }

    @Test
    void shouldGiveALongNameALineOfItsOwn() {
        String longest = "a".repeat(249) + " -> " + "b".repeat(249);
        NameColumn names = NameColumn.of("topic", Stream.of("payments", longest));

        assertThat(names.cell("a")).isEqualTo("a       ");
        assertThat(names.cell(longest)).isEqualTo(longest + System.lineSeparator() + "        ");
        assertThat(NameColumn.of("topic", Stream.of(longest)).cell("topic")).isEqualTo("topic");
    }
}
