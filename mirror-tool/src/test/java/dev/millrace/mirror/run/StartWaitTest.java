package dev.millrace.mirror.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.mirror.config.MirrorPolicies;
import dev.millrace.mirror.control.Lifecycle;
import dev.millrace.mirror.text.MirrorException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;

/** The clock is the test's; each step of a test that fails lets three seconds pass. */
class StartWaitTest {
    private final AtomicLong nanos = new AtomicLong(7);
    private final Lifecycle lifecycle = new Lifecycle(1);
    private int attempts;

    @Test
    void shouldTryOnceWhenItMayNotWait() {
        StartWait wait = wait(Duration.ZERO);

        assertThatThrownBy(() -> wait.repeat(this::failInTime)).hasMessageContaining("no answer");

        assertThat(attempts).isEqualTo(1);
    }

    @Test
    void shouldThrowTheLastFailureWhenAllStepsTogetherTakeTooLong() {
        StartWait wait = wait(Duration.ofSeconds(5));
        assertThat(wait.<String>repeat(() -> attempts++ == 0 ? failInTime() : "first step"))
                .isEqualTo("first step");

        assertThatThrownBy(() -> wait.repeat(this::failInTime)).isInstanceOf(MirrorException.class);

        assertThat(nanos.get() - 7).isEqualTo(TimeUnit.SECONDS.toNanos(6));
    }

    @Test
    void shouldNotRepeatWhatWaitingDoesNotMend() {
        StartWait wait = wait(MirrorPolicies.FOREVER);

        assertThatThrownBy(() -> wait.repeat(() -> {
                    attempts++;
                    throw MirrorException.failed("Cannot connect", new TopicAuthorizationException("not allowed"));
                }))
                .hasMessageContaining("not allowed");

        assertThat(attempts).isEqualTo(1);
    }

    @Test
    void shouldRepeatWhatAClusterDoesNotAnswer() {
        StartWait wait = wait(Duration.ofSeconds(5));

        assertThat(wait.<String>repeat(() -> {
                    if (attempts++ == 0) {
                        throw new TimeoutException("no answer");
                    }
                    return "answer";
                }))
                .isEqualTo("answer");
    }

    @Test
    void shouldEndWhenTheMirrorIsStopped() {
        StartWait wait = wait(MirrorPolicies.FOREVER);

        assertThatThrownBy(() -> wait.repeat(() -> {
                    lifecycle.stop();
                    return failInTime();
                }))
                .isInstanceOf(StartWait.Stopped.class);

        assertThat(attempts).isEqualTo(1);
    }

    @Test
    void shouldNotWaitForAnAnswerWhenTheMirrorIsStopped() {
        StartWait wait = wait(MirrorPolicies.FOREVER);

        assertThatThrownBy(() -> wait.repeat(() -> {
                    lifecycle.stop();
                    return neverAnswered();
                }))
                .isInstanceOf(StartWait.Stopped.class);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void shouldInterruptNothingAfterAStep() throws InterruptedException {
        assertThat(wait(Duration.ZERO).<String>repeat(() -> "answer")).isEqualTo("answer");

        lifecycle.stop();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals(StopInterrupt.THREAD)) {
                thread.join();
            }
        }

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    private static String neverAnswered() {
        try {
            return new CompletableFuture<String>().get();
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    private StartWait wait(Duration limit) {
        return new StartWait(limit, lifecycle, nanos::get, why -> {});
    }

    private String failInTime() {
        attempts++;
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(3));
        throw MirrorException.failed("The source", new TimeoutException("no answer"));
    }
}
