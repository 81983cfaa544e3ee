package dev.millrace.testkit.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file system of few bytes, which a test fills so that a broker finds no room. It is in memory, and goes when it is
 * closed or this JVM ends in any way: a shell whose standard input only this JVM holds open unmounts it.
 *
 * <p><b>Threads:</b> one at a time.
 */
public final class SmallDisk implements AutoCloseable {
    private static final String MOUNT = """
            trap '' INT TERM HUP
            mount -t tmpfs -o "size=$2" tmpfs "$1" || { rmdir "$1"; exit; }
            echo mounted
            while read -r line; do :; done
            umount -l "$1"
            rmdir "$1"
            """;

    private static final int STEP_BYTES = 4096;

    private final Path path;
    private final Path filler;
    private final Process mount;

    private SmallDisk(Path path, Process mount) {
        this.path = path;
        this.filler = path.resolve("filler");
        this.mount = mount;
    }

    /** Mounts one; empty where this user, or the system, cannot. */
    public static Optional<SmallDisk> mount(long bytes) {
        try {
            Path path = Files.createTempDirectory("millrace-disk-");
            Process mount = new ProcessBuilder("/bin/sh", "-c", MOUNT, "disk", path.toString(), Long.toString(bytes))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean isMounted = mount.inputReader(StandardCharsets.UTF_8).readLine() != null;
            return isMounted ? Optional.of(new SmallDisk(path, mount)) : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot set up a small disk", e);
        }
    }

    /** A folder of it, which does not exist yet. */
    public Path folder() {
        return path.resolve("data");
    }

    /** Fills it up to so many bytes. */
    public void fill(long leftBytes) {
        try (OutputStream out = Files.newOutputStream(filler)) {
            while (Files.getFileStore(path).getUsableSpace() > leftBytes) {
                out.write(new byte[STEP_BYTES]);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot fill " + path, e);
        }
    }

    /** Takes away what {@link #fill} has written. */
    public void makeRoom() {
        try {
            Files.delete(filler);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make room on " + path, e);
        }
    }

    /** Unmounts it, with all that is there; blocks until that is done. */
    @Override
    public void close() {
        try {
            mount.getOutputStream().close();
            mount.waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot unmount " + path, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The shell finishes without us.
        }
    }
}
