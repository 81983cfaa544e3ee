package dev.millrace.testkit.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The temporary folder of some child JVMs, and the reaper process that kills them and removes the folder on {@link
 * #close()} or when this JVM ends in any way, including kill -9.
 *
 * <p>The reaper is a shell whose standard input is a pipe that only this JVM holds open. It reads until the pipe
 * closes, which the kernel does whichever way this JVM ends, and ignores the signals of a terminal's Ctrl-C. A child
 * writes a file named by its process id to the folder before it becomes a JVM. The reaper first renames the folder: a
 * child that has not written its file by then fails to, and ends. All others get SIGKILL, which also ends paused
 * processes.
 */
public final class ChildFolder implements AutoCloseable {
    private static final String REAPER = """
            trap '' INT TERM HUP
            while read -r line; do :; done
            mv "$1" "$1.gone"
            for entry in "$1.gone"/pids/*; do kill -9 "${entry##*/}"; done
            rm -rf "$1.gone" "$1" || { sleep 1; rm -rf "$1.gone" "$1"; }
            """;

    private static final String LAUNCHER = "trap '' INT HUP; : > \"$0/pids/$$\" && exec \"$@\"";

    private final Path path;
    private final Process reaper;

    private ChildFolder(Path path, Process reaper) {
        this.path = path;
        this.reaper = reaper;
    }

    /** Creates the folder in {@code java.io.tmpdir}; its name begins with the prefix. */
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

    /** What comes before the words of a command, so that the reaper finds its process. */
    List<String> launcher() {
        return List.of("/bin/sh", "-c", LAUNCHER, path.toString());
    }

    /** The system may give the process id of an ended child to another process, which the reaper must not kill. */
    void forgetAtEnd(Process child) {
        var unused = child.onExit()
                .thenRun(() -> path.resolve("pids")
                        .resolve(Long.toString(child.pid()))
                        .toFile()
                        .delete());
    }

    /** Kills every child and removes the folder; blocks until that is done, for some milliseconds. */
    @Override
    public void close() {
        try {
            reaper.getOutputStream().close();
            reaper.waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot close the pipe to the reaper of " + path, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The reaper finishes without us.
        }
    }
}
