package dev.millrace.race;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** A file by which a racer tells the race that it waits: it creates the file, and goes on when that is gone. */
final class Gate {
    private static final long LOOK_EVERY_MILLIS = 5;

    private Gate() {}

    /** For the racer. Blocks until the race lets it go on. */
    static void waitAt(Path gate) throws IOException, InterruptedException {
        Files.createFile(gate);
        while (Files.exists(gate)) {
            Thread.sleep(LOOK_EVERY_MILLIS);
        }
    }

    /** For the race. Blocks until the racer waits, and returns whether it does, or has ended instead. */
    static boolean awaitRacer(Path gate, BooleanSupplier alive) throws InterruptedException {
        while (alive.getAsBoolean() && !Files.exists(gate)) {
            Thread.sleep(LOOK_EVERY_MILLIS);
        }
        return Files.exists(gate);
    }

    /** For the race: the racer goes on. */
    static void open(Path gate) throws IOException {
        Files.delete(gate);
    }
}
