package dev.millrace.client.metadata;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

/**
 * A file with {@link TopicNames}. It has {@link #MAGIC}, a version, the time at which it was written, the cluster's id,
 * the number of names, the names, and last the CRC-32C of all of these. A new version replaces the old one in one step,
 * so a reader always finds one of them whole, even if several processes write or a writer is killed. The last writer
 * wins.
 *
 * <p><b>Threads:</b> one. Its methods block for the disk.
 * <p><b>Bounds:</b> {@link #MAX_BYTES}.
 */
final class TopicNamesFile {
    /** Names that do not fit are left out: of 50 letters each, 300,000 fit. */
    static final int MAX_BYTES = 16 << 20;

    /** Files older than this are not used. */
    static final long MAX_AGE_MS = TimeUnit.DAYS.toMillis(7);

    private static final int MAGIC = 0x4D52544E;
    private static final int VERSION = 1;
    private static final String TEMPORARY = ".tmp";

    /** No write takes this long; a killed process left any older temporary file. */
    private static final long ABANDONED_AFTER_MS = TimeUnit.HOURS.toMillis(1);

    private final Path file;

    TopicNamesFile(Path file) {
        this.file = file;
    }

    /**
     * Reads the file; returns an empty value if there is none.
     *
     * @param nowMs the time of day, in milliseconds since 1970
     * @throws IOException it cannot be read, or must not be used; the message says why
     */
    Optional<TopicNames> read(long nowMs) throws IOException {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        if (!Files.isRegularFile(file)) {
            throw new IOException("it is not a regular file");
        }
        byte[] content;
        try (InputStream in = Files.newInputStream(file)) {
            content = in.readNBytes(MAX_BYTES + 1);
        }
        if (content.length > MAX_BYTES) {
            throw new IOException("it has more than " + MAX_BYTES + " bytes");
        }
        int checked = content.length - Integer.BYTES;
        if (checked < 0 || ByteBuffer.wrap(content).getInt(checked) != checksum(content, checked)) {
            throw new IOException("it is damaged: its checksum does not match");
        }
        return Optional.of(parse(new DataInputStream(new ByteArrayInputStream(content, 0, checked)), nowMs));
    }

    private static TopicNames parse(DataInputStream in, long nowMs) throws IOException {
        if (in.readInt() != MAGIC || in.readInt() != VERSION) {
            throw new IOException("it is of another kind, or of another version of Millrace");
        }
        long ageMs = nowMs - in.readLong();
        if (Math.abs(ageMs) > MAX_AGE_MS) {
            throw new IOException("it was written " + TimeUnit.MILLISECONDS.toDays(ageMs)
                    + " days ago by this clock, and more than " + TimeUnit.MILLISECONDS.toDays(MAX_AGE_MS)
                    + " are too many");
        }
        String clusterId = in.readUTF();
        int count = in.readInt();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add(in.readUTF());
        }
        return new TopicNames(clusterId, names);
    }

    /**
     * Replaces the file; creates its folder if it is missing.
     *
     * @param nowMs the time of day, in milliseconds since 1970
     */
    void write(TopicNames topics, long nowMs) throws IOException {
        byte[] content = format(topics, nowMs);
        Files.createDirectories(file.getParent());
        Path temporary =
                Files.createTempFile(file.getParent(), file.getFileName().toString(), TEMPORARY);
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
                ByteBuffer left = ByteBuffer.wrap(content);
                while (left.hasRemaining()) {
                    channel.write(left);
                }
                channel.force(true); // else the name could reach the disk before the content
            }
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static byte[] format(TopicNames topics, long nowMs) throws IOException {
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(names);
        int count = 0;
        int maxNameBytes = MAX_BYTES - 1_024 - 3 * topics.clusterId().length();
        for (String name : topics.names()) {
            if (names.size() + Short.BYTES + 3 * name.length() <= maxNameBytes) {
                out.writeUTF(name);
                count++;
            }
        }
        ByteArrayOutputStream content = new ByteArrayOutputStream(names.size() + 1_024);
        out = new DataOutputStream(content);
        out.writeInt(MAGIC);
        out.writeInt(VERSION);
        out.writeLong(nowMs);
        out.writeUTF(topics.clusterId());
        out.writeInt(count);
        names.writeTo(out);
        out.writeInt(checksum(content.toByteArray(), content.size()));
        return content.toByteArray();
    }

    private static int checksum(byte[] content, int length) {
        CRC32C checksum = new CRC32C();
        checksum.update(content, 0, length);
        return (int) checksum.getValue();
    }

    /** Deletes the temporary files of processes that were killed while writing this file. */
    void deleteAbandoned(long nowMs) throws IOException {
        if (!Files.isDirectory(file.getParent())) {
            return;
        }
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(file.getParent(), file.getFileName() + "*" + TEMPORARY)) {
            for (Path temporary : found) {
                if (nowMs - Files.getLastModifiedTime(temporary).toMillis() > ABANDONED_AFTER_MS) {
                    Files.deleteIfExists(temporary);
                }
            }
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
