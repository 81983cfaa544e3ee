package dev.millrace.testkit.mirrormaker;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.errors.InterruptException;

/**
 * The jars of a release of a MirrorMaker, of Kafka Connect or of Kafka's tools, from Maven, and a folder for its configuration. Its temporary files are deleted
 * by {@link #close}, or when this JVM ends.
 *
 * <p><b>Threads:</b> one.
 */
public final class MavenJars implements AutoCloseable {
    /** Options of a JVM that runs it, so that it prints only warnings. */
    public static final List<String> LOGGING =
            List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showThreadName=false");

    private final String name;
    private final Path folder;
    private final String classPath;

    /**
     * Gets the jars from Maven. Blocks while Maven downloads what the local repository lacks, about 40 MB the first
     * time.
     *
     * @param name {@code mirrormaker1}, {@code mirrormaker2}, {@code kafka-connect} or {@code kafka-tools}; the resource {@code NAME-pom.xml} has its dependencies
     * @throws IllegalStateException when there is no Maven, or it fails
     */
    public MavenJars(String name) {
        this.name = name;
        try {
            folder = Files.createTempDirectory(name + "-");
            folder.toFile().deleteOnExit();
            classPath = resolve();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String resolve() throws IOException {
        String resource = "/" + name + "-pom.xml";
        Path pom = file("pom.xml");
        try (InputStream in = Objects.requireNonNull(MavenJars.class.getResourceAsStream(resource), resource);
                OutputStream out = Files.newOutputStream(pom)) {
            in.transferTo(out);
        }
        Path result = file("classpath");
        List<String> command = List.of(
                "mvn",
                "-q",
                "-B",
                "-Dstyle.color=never",
                "-f",
                pom.toString(),
                "dependency:build-classpath",
                "-Dmdep.outputFile=" + result);
        String output;
        int exitCode;
        try {
            Process maven = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            output = new String(maven.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            exitCode = maven.waitFor();
        } catch (IOException e) {
            throw new IllegalStateException(
                    name + " needs Maven to get its jars, and mvn cannot be started: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
        if (exitCode != 0) {
            throw new IllegalStateException("Maven cannot get the jars of " + name + ": "
                    + output.lines().findFirst().orElse("it ended with exit code " + exitCode));
        }
        return Files.readString(result).strip();
    }

    /** The class path of the release. */
    public String classPath() {
        return classPath;
    }

    /** Writes a configuration into a file of this name. */
    public Path store(String fileName, Map<String, Object> config) {
        Properties properties = new Properties();
        config.forEach((key, value) -> properties.setProperty(key, value.toString()));
        Path file = file(fileName);
        try (OutputStream out = Files.newOutputStream(file)) {
            properties.store(out, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    private Path file(String fileName) {
        Path file = folder.resolve(fileName);
        file.toFile().deleteOnExit();
        return file;
    }

    @Override
    public void close() {
        File[] files = folder.toFile().listFiles();
        for (File file : files == null ? new File[0] : files) {
            boolean unused = file.delete();
        }
        boolean unused = folder.toFile().delete();
    }
}
