package dev.millrace.client.it.frameworks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Maven in a process of its own. It finds the client that this build has packaged as if it had been installed, though
 * the local repository does not change: it gets another one, whose folders are links to those of the user's.
 */
final class ChildMaven {
    private static final String GROUP = "dev/millrace";
    private static final Path MODULE = Path.of("").toAbsolutePath();

    private final Path repository;

    private ChildMaven(Path repository) {
        this.repository = repository;
    }

    /**
     * Sets it up.
     *
     * @param folder an empty one, for the local repository
     * @param version of the client
     */
    static ChildMaven withPackagedClient(Path folder, String version) throws IOException {
        link(folder, usersRepository(), GROUP);
        Path target = MODULE.resolve("target");
        Path client = artifact(folder, "millrace-client", version);
        Files.copy(target.resolve("flattened-pom.xml"), Path.of(client + ".pom"));
        Files.createSymbolicLink(
                Path.of(client + ".jar"), target.resolve(client.getFileName().toString() + ".jar"));
        return new ChildMaven(folder);
    }

    /** With the user's local repository. */
    static ChildMaven plain() {
        return new ChildMaven(usersRepository());
    }

    private static Path usersRepository() {
        // Failsafe tells where it is.
        return Path.of(System.getProperty("localRepository", System.getProperty("user.home") + "/.m2/repository"));
    }

    /** Links to all that {@code from} has, except the folder {@code own}. */
    private static void link(Path to, Path from, String own) throws IOException {
        int slash = own.indexOf('/');
        String first = slash < 0 ? own : own.substring(0, slash);
        if (Files.isDirectory(from)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(from)) {
                for (Path entry : entries) {
                    String name = entry.getFileName().toString();
                    if (!name.equals(first)) {
                        Files.createSymbolicLink(to.resolve(name), entry);
                    }
                }
            }
        }
        Path folder = Files.createDirectory(to.resolve(first));
        if (slash > 0) {
            link(folder, from.resolve(first), own.substring(slash + 1));
        }
    }

    /** The path of an artifact's files without the end of their names. */
    private static Path artifact(Path repository, String name, String version) throws IOException {
        Path folder = repository.resolve(GROUP).resolve(name).resolve(version);
        return Files.createDirectories(folder).resolve(name + "-" + version);
    }

    /** Blocks until it has ended; fails unless it succeeds. */
    void run(Path project, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("mvn", "-q", "-B", "-ntp", "-Dstyle.color=never"));
        command.add("-Dmaven.repo.local=" + repository);
        command.addAll(List.of(arguments));
        Process maven = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .start();
        String output = new String(maven.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(maven.waitFor()).as(output).isZero();
    }
}
