package dev.millrace.testkit.process;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Maven in a process of its own. It finds what this build has packaged as if it had been installed, though the local
 * repository does not change: it gets another one, whose folders are links to those of the user's.
 *
 * <p><b>Threads:</b> any number.
 */
public final class ChildMaven {
    private static final String GROUP = "dev/millrace";

    private final Path repository;

    private ChildMaven(Path repository) {
        this.repository = repository;
    }

    /**
     * With modules of this build.
     *
     * @param repository an empty folder, for the local repository
     * @param version of the modules
     * @param modules by artifact, the folder of the module, which Maven has packaged
     */
    public static ChildMaven withPackaged(Path repository, String version, Map<String, Path> modules)
            throws IOException {
        link(repository, usersRepository(), GROUP);
        for (Map.Entry<String, Path> module : modules.entrySet()) {
            Path target = module.getValue().resolve("target").toAbsolutePath();
            Path artifact = artifact(repository, module.getKey(), version);
            Files.copy(target.resolve("flattened-pom.xml"), Path.of(artifact + ".pom"));
            Files.createSymbolicLink(
                    Path.of(artifact + ".jar"),
                    target.resolve(artifact.getFileName().toString() + ".jar"));
        }
        return new ChildMaven(repository);
    }

    /** With the user's local repository. */
    public static ChildMaven plain() {
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

    /**
     * Blocks until it has ended.
     *
     * @throws IllegalStateException with its output, unless it succeeds
     */
    public void run(Path project, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("mvn", "-q", "-B", "-ntp", "-Dstyle.color=never"));
        command.add("-Dmaven.repo.local=" + repository);
        command.addAll(List.of(arguments));
        Process maven = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .start();
        String output = new String(maven.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int exitCode = maven.waitFor();
        if (exitCode != 0) {
            throw new IllegalStateException("Maven ended with exit code " + exitCode + ": " + output);
        }
    }
}
