package dev.millrace.client.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopicNamesFileTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final TopicNames TOPICS = new TopicNames("cluster", List.of("orders", "payments", "überall"));

    @TempDir
    Path folder;

    private Path path;
    private TopicNamesFile file;

    @BeforeEach
    void name() {
        path = folder.resolve("made/topics-1");
        file = new TopicNamesFile(path);
    }

    @Test
    void shouldReadWhatWasWritten() throws IOException {
        assertThat(file.read(NOW_MS)).as("nothing was written yet").isEmpty();

        file.write(new TopicNames("other", List.of("old")), NOW_MS);
        file.write(TOPICS, NOW_MS);

        assertThat(file.read(NOW_MS + TopicNamesFile.MAX_AGE_MS)).contains(TOPICS);
        assertThat(filesIn(folder.resolve("made"))).containsExactly("topics-1");
    }

    @Test
    void shouldRefuseAFileThatIsCutAnywhere() throws IOException {
        file.write(TOPICS, NOW_MS);
        byte[] whole = Files.readAllBytes(path);

        for (int length = 0; length < whole.length; length++) {
            Files.write(path, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> file.read(NOW_MS)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void shouldRefuseAFileInWhichAnyByteIsWrong() throws IOException {
        file.write(TOPICS, NOW_MS);
        byte[] whole = Files.readAllBytes(path);

        for (int i = 0; i < whole.length; i++) {
            byte[] damaged = whole.clone();
            damaged[i] ^= 0x10;
            Files.write(path, damaged);
            assertThatThrownBy(() -> file.read(NOW_MS)).hasMessageContaining("checksum");
        }
    }

    @Test
    void shouldRefuseAFileOfAnotherKindOrVersion() throws IOException {
        file.write(TOPICS, NOW_MS);
        byte[] whole = Files.readAllBytes(path);

        for (int i : new int[] {0, Integer.BYTES}) {
            byte[] foreign = whole.clone();
            foreign[i]++;
            Files.write(path, withChecksum(foreign));
            assertThatThrownBy(() -> file.read(NOW_MS)).hasMessageContaining("another");
        }
    }

    @Test
    void shouldRefuseAFileWhoseNamesEndTooEarly() throws IOException {
        file.write(TOPICS, NOW_MS);
        byte[] content = Files.readAllBytes(path);

        Files.write(path, withChecksum(Arrays.copyOf(content, content.length - 2)));

        assertThatThrownBy(() -> file.read(NOW_MS)).isInstanceOf(IOException.class);
    }

    @Test
    void shouldRefuseAFileThatIsTooOldOrFromTheFuture() throws IOException {
        file.write(TOPICS, NOW_MS);

        for (int sign : new int[] {-1, 1}) {
            long readAtMs = NOW_MS + sign * (TopicNamesFile.MAX_AGE_MS + 1);
            assertThatThrownBy(() -> file.read(readAtMs)).hasMessageContaining(sign * 7 + " days ago");
        }
    }

    @Test
    void shouldRefuseAFileThatIsTooLarge() throws IOException {
        Files.createDirectories(path.getParent());
        Files.write(path, new byte[TopicNamesFile.MAX_BYTES + 1]);

        assertThatThrownBy(() -> file.read(NOW_MS)).hasMessageContaining("more than");
    }

    @Test
    void shouldRefuseAFolder() throws IOException {
        Files.createDirectories(path);

        assertThatThrownBy(() -> file.read(NOW_MS)).hasMessageContaining("regular");
        assertThatThrownBy(() -> file.write(TOPICS, NOW_MS)).isInstanceOf(IOException.class);
        assertThat(filesIn(path.getParent())).as("no temporary file is left").containsExactly("topics-1");
    }

    @Test
    void shouldLeaveOutNamesThatDoNotFit() throws IOException {
        List<String> names =
                IntStream.range(0, 100_000).mapToObj(i -> "x".repeat(240) + i).toList();

        file.write(new TopicNames("cluster", names), NOW_MS);

        assertThat(Files.size(path)).isLessThanOrEqualTo(TopicNamesFile.MAX_BYTES);
        List<String> read = file.read(NOW_MS).orElseThrow().names();
        assertThat(read).hasSizeGreaterThan(60_000).isEqualTo(names.subList(0, read.size()));
    }

    @Test
    void shouldDeleteOnlyWhatAKilledProcessLeft() throws IOException {
        file.write(TOPICS, NOW_MS);
        Path left = Files.createFile(folder.resolve("made/topics-1234.tmp"));
        Path inUse = Files.createFile(folder.resolve("made/topics-1567.tmp"));
        Path ofAnother = Files.createFile(folder.resolve("made/topics-2.tmp"));
        for (Path old : List.of(left, ofAnother, path)) {
            Files.setLastModifiedTime(old, FileTime.fromMillis(NOW_MS - TimeUnit.DAYS.toMillis(1)));
        }
        Files.setLastModifiedTime(inUse, FileTime.fromMillis(NOW_MS));

        file.deleteAbandoned(NOW_MS);

        assertThat(filesIn(folder.resolve("made")))
                .containsExactlyInAnyOrder("topics-1", "topics-1567.tmp", "topics-2.tmp");
    }

    /** Two processes write files of different lengths; a third one reads. */
    @Test
    void shouldAlwaysReadAWholeFileWhenSeveralWrite() throws Exception {
        List<TopicNames> versions = List.of(
                new TopicNames("short", List.of("t")),
                new TopicNames(
                        "long",
                        IntStream.range(0, 2_000).mapToObj(i -> "topic-" + i).toList()));
        file.write(versions.get(0), NOW_MS);
        ExecutorService writers = Executors.newFixedThreadPool(2);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (TopicNames version : versions) {
                ends.add(writers.submit(() -> {
                    for (int i = 0; i < 50; i++) {
                        new TopicNamesFile(path).write(version, NOW_MS);
                    }
                    return null;
                }));
            }
            while (!ends.stream().allMatch(Future::isDone)) {
                assertThat(file.read(NOW_MS).map(versions::contains)).isEqualTo(Optional.of(true));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            writers.shutdownNow();
        }
        assertThat(filesIn(path.getParent())).containsExactly("topics-1");
    }

    private static byte[] withChecksum(byte[] content) {
        CRC32C checksum = new CRC32C();
        checksum.update(content, 0, content.length - Integer.BYTES);
        ByteBuffer.wrap(content).putInt(content.length - Integer.BYTES, (int) checksum.getValue());
        return content;
    }

    private static List<String> filesIn(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
