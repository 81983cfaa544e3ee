package dev.millrace.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
    private static final List<List<String>> ROWS =
            List.of(List.of("who", "what", "ns"), List.of("stock", "a", "1,234"), List.of("we", "bcdef", "5"));

    @Test
    void shouldAlignTextLeftAndNumbersRight() {
        assertThat(new Table(ROWS, 2).plain())
                .containsExactly("who    what      ns", "stock  a      1,234", "we     bcdef      5");
    }

    @Test
    void shouldPutARuleBelowTheHeaderOfMarkdown() {
        assertThat(new Table(ROWS, 1).markdown()).isEqualTo("""
                | who   |  what |    ns |
                |-------|------:|------:|
                | stock |     a | 1,234 |
                | we    | bcdef |     5 |
                """);
    }
}
