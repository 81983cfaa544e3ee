package dev.millrace.client.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TopicRegistryTest {
    private static final long MAX_IDLE_MS = 100;

    private final TopicRegistry registry = new TopicRegistry();

    @Test
    void shouldSayThatATopicIsNewWhenItIsUsedForTheFirstTime() {
        assertThat(registry.add("t")).isTrue();
        assertThat(registry.add("t")).isFalse();
        assertThat(registry.add("u")).isTrue();
        assertThat(registry.removeIdle(1_000, MAX_IDLE_MS)).containsExactlyInAnyOrder("t", "u");
    }

    @Test
    void shouldForgetATopicWhenNobodyUsedItForTooLong() {
        registry.add("t");
        registry.removeIdle(1_000, MAX_IDLE_MS);

        assertThat(registry.removeIdle(1_000 + MAX_IDLE_MS, MAX_IDLE_MS)).containsExactly("t");
        assertThat(registry.removeIdle(1_001 + MAX_IDLE_MS, MAX_IDLE_MS)).isEmpty();
        assertThat(registry.add("t")).as("it is new again").isTrue();
    }

    @Test
    void shouldKeepATopicWhenItIsUsedBetweenSweeps() {
        registry.add("used");
        registry.add("idle");
        for (long now = 1_000; now <= 10_000; now += MAX_IDLE_MS - 1) {
            registry.add("used");
            registry.removeIdle(now, MAX_IDLE_MS);
        }

        assertThat(registry.removeIdle(10_000, MAX_IDLE_MS)).containsExactly("used");
    }

    @Test
    void shouldCountIdlenessFromTheFirstSweepWhenItWasAddedLongAgo() {
        registry.add("t");

        assertThat(registry.removeIdle(1_000_000, MAX_IDLE_MS)).containsExactly("t");
        assertThat(registry.removeIdle(1_000_000 + MAX_IDLE_MS + 1, MAX_IDLE_MS))
                .isEmpty();
    }

    @Test
    void shouldGiveASetThatDoesNotChangeWhenTopicsComeLater() {
        registry.add("t");
        var inUse = registry.removeIdle(1_000, MAX_IDLE_MS);

        registry.add("u");

        assertThat(inUse).containsExactly("t");
    }
}
