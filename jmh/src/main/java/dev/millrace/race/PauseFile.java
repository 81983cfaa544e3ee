package dev.millrace.race;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** A file by which a racer tells the race that it waits: it creates the file, and goes on when that is gone. */
final class PauseFile {
    private static final long POLL_INTERVAL_MS = 5;

    private PauseFile() {}

    /** For the racer. Blocks until the race lets it go on. */
    static void pause(Path file) throws IOException, InterruptedException {
        Files.createFile(file);
        while (Files.exists(file)) {
            Thread.sleep(POLL_INTERVAL_MS);
        }
    }

    /** For the race. Blocks until the racer waits, and returns whether it does, or has ended instead. */
    static boolean awaitPaused(Path file, BooleanSupplier alive) throws InterruptedException {
        while (alive.getAsBoolean() && !Files.exists(file)) {
            Thread.sleep(POLL_INTERVAL_MS);
        }
        return Files.exists(file);
    }

    /** For the race: the racer goes on. */
    static void resume(Path file) throws IOException {
        Files.delete(file);
    }
}
