package dev.millrace.testkit.stub;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/** Sends the responses of a stub broker, each after the same delay, so that they stay in order. */
final class StubResponses {
    private final long delayNanos;
    private final Queue<Delayed> delayed = new ArrayDeque<>();

    StubResponses(int delayMillis) {
        delayNanos = TimeUnit.MILLISECONDS.toNanos(delayMillis);
    }

    void send(StubConnection connection, ByteBuffer response) {
        if (delayNanos == 0) {
            connection.write(response);
        } else {
            delayed.add(new Delayed(System.nanoTime() + delayNanos, connection, response));
        }
    }

    /** In the form of {@code Selector.select}: 0 means to wait for requests only. */
    long millisUntilNextIsDue() {
        if (delayed.isEmpty()) {
            return 0;
        }
        long nanos = delayed.element().due - System.nanoTime();
        return Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
    }

    void sendAllDue() {
        while (!delayed.isEmpty() && delayed.element().due - System.nanoTime() <= 0) {
            Delayed next = delayed.remove();
            next.connection.write(next.response);
        }
    }

    private record Delayed(long due, StubConnection connection, ByteBuffer response) {}
}
