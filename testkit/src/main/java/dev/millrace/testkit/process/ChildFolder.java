package dev.millrace.testkit.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The temporary folder of a family of child JVMs, and the reaper that ends them all and removes the folder: on
 * {@link #close()}, and as well when this JVM ends in any other way, be it by kill -9.
 *
 * <p>The reaper is a shell whose standard input is a pipe that only this JVM holds open. It sleeps until the pipe
 * closes, which the kernel sees to however this JVM ends, and deaf to the signals of a terminal's Ctrl-C. A child enters
 * its process id in the folder before it becomes a JVM. The reaper first renames the folder: a child that has not
 * entered itself by then fails to do so, and ends; all others are found and get SIGKILL, which also ends stopped ones.
 */
public final class ChildFolder implements AutoCloseable {
    private static final String REAPER = """
            trap '' INT TERM HUP
            while read -r line; do :; done
            mv "$1" "$1.gone"
            for entry in "$1.gone"/pids/*; do kill -9 "${entry##*/}"; done
            rm -rf "$1.gone" "$1" || { sleep 1; rm -rf "$1.gone" "$1"; }
            """;

    private final Path path;
    private final Process reaper;

    private ChildFolder(Path path, Process reaper) {
        this.path = path;
        this.reaper = reaper;
    }

    /** Creates the folder below {@code java.io.tmpdir}, with the given prefix of its name. */
    public static ChildFolder create(String prefix) {
        try {
            Path path = Files.createTempDirectory(prefix);
            Files.createDirectory(path.resolve("pids"));
            Process reaper = new ProcessBuilder("/bin/sh", "-c", REAPER, "reaper", path.toString())
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
            return new ChildFolder(path, reaper);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot set up a folder for child processes", e);
        }
    }

    public Path path() {
        return path;
    }

    /** Where the running child of this process id is entered. */
    Path entry(long pid) {
        return path.resolve("pids").resolve(Long.toString(pid));
    }

    /** Ends every child at once and removes the folder; blocks until that is done, some milliseconds. */
    @Override
    public void close() {
        try {
            reaper.getOutputStream().close();
            reaper.waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot close the pipe to the reaper of " + path, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The reaper goes on without us.
        }
    }
}
