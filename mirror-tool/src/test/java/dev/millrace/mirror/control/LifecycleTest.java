package dev.millrace.mirror.control;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LifecycleTest {
    private final Lifecycle lifecycle = new Lifecycle(1);

    @Test
    void shouldStopBecauseOfTheFirstFailure() {
        RuntimeException first = new IllegalStateException("first");

        lifecycle.fail(first);
        lifecycle.fail(new IllegalStateException("a consequence"));

        assertThat(lifecycle.isRunning()).isFalse();
        assertThat(lifecycle.failureOrNull()).isSameAs(first);
    }

    @Test
    void shouldIgnoreWhatFailsBecauseTheMirrorHasEnded() {
        lifecycle.stop();
        lifecycle.end();

        lifecycle.fail(new IllegalStateException("the admin client is closing"));

        assertThat(lifecycle.failureOrNull()).isNull();
    }
}
