package dev.millrace.race;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** A file that pauses a racer: the racer creates it and waits until the race, another process, deletes it. */
final class PauseFile {
    private static final long POLL_INTERVAL_MS = 5;

    private PauseFile() {}

    /** The racer calls this. Blocks until the race calls {@link #resume}. */
    static void pause(Path file) throws IOException, InterruptedException {
        Files.createFile(file);
        while (Files.exists(file)) {
            Thread.sleep(POLL_INTERVAL_MS);
        }
    }

    /** The race calls this. Blocks until the racer pauses or has ended; returns whether it is paused. */
    static boolean awaitPaused(Path file, BooleanSupplier alive) throws InterruptedException {
        while (alive.getAsBoolean() && !Files.exists(file)) {
            Thread.sleep(POLL_INTERVAL_MS);
        }
        return Files.exists(file);
    }

    /** The race calls this to let a paused racer continue. */
    static void resume(Path file) throws IOException {
        Files.delete(file);
    }
}
