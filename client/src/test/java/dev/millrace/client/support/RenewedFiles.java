package dev.millrace.client.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;

/**
 * Changes files that a program reads again when they have changed. Each change looks a second younger than the one
 * before, and all look old, so that none seems to be half-written.
 */
public final class RenewedFiles {
    private final Instant oldest = Instant.now().minusSeconds(1_000);
    private int changes;

    public void copy(Path from, Path to) throws IOException {
        write(to, Files.readAllBytes(from));
    }

    public void write(Path file, byte[] content) throws IOException {
        Files.write(file, content);
        changes++;
        Files.setLastModifiedTime(file, FileTime.from(oldest.plusSeconds(changes)));
    }
}
