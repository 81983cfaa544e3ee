package dev.millrace.mirror.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The package that operators unpack, which {@code mvn verify} makes, and the few tools that it needs.
 *
 * @param root the folder that was in the tar
 * @param tools a folder with these tools only
 */
public record UnpackedPackage(Path root, Path tools) {
    private static final Path TAR = Path.of(
            "target",
            "millrace-mirror-%s-%s.tar.gz".formatted(System.getProperty("os.name"), System.getProperty("os.arch")));
    private static final List<String> TOOLS = List.of("bash", "dirname", "readlink");

    /** Unpacks it with its permissions, whatever the umask. */
    public static UnpackedPackage in(Path folder) throws IOException, InterruptedException {
        assertThat(TAR).as("mvn verify makes it").exists();
        Path empty = Files.createDirectory(folder.resolve("opt"));
        Process tar = new ProcessBuilder("tar", "-xpzf", TAR.toString(), "-C", empty.toString())
                .inheritIO()
                .start();
        assertThat(tar.waitFor()).isZero();
        Path tools = Files.createDirectory(folder.resolve("tools"));
        for (String tool : TOOLS) {
            Files.copy(find(tool), tools.resolve(tool), StandardCopyOption.COPY_ATTRIBUTES);
        }
        try (Stream<Path> children = Files.list(empty)) {
            return new UnpackedPackage(children.findFirst().orElseThrow(), tools);
        }
    }

    /** The command without the environment of this process; it finds a few tools, and no Java. */
    public ProcessBuilder isolated(List<String> command) {
        ProcessBuilder isolated = new ProcessBuilder(command);
        isolated.environment().clear();
        isolated.environment().put("PATH", tools.toString());
        return isolated;
    }

    /** Copies a file, or a folder with all that is in it. */
    public static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Path copy = to.resolve(from.relativize(path).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(path, copy, StandardCopyOption.COPY_ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
            }
        }
    }

    private static Path find(String tool) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
                .map(folder -> Path.of(folder, tool))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow();
    }
}
