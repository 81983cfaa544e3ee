package dev.millrace.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RacerArgumentsTest {
    @Test
    void shouldReadBackWhatItPassesOn() {
        RacerArguments arguments =
                new RacerArguments("size=100").set("rate", 7L).config("ssl.truststore.password", "a=b");

        RacerArguments read = new RacerArguments(arguments.commandLine());

        assertThat(read.integer("size")).isEqualTo(100);
        assertThat(read.whole("rate")).isEqualTo(7);
        assertThat(read.config()).containsOnlyKeys("ssl.truststore.password").containsValue("a=b");
    }

    @Test
    void shouldNameArgumentWhenItIsMissing() {
        assertThatThrownBy(() -> new RacerArguments().text("topic")).hasMessageContaining("topic=");
    }
}
