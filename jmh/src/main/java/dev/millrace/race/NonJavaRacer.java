package dev.millrace.race;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A producer in another language: a small program of ours that uses its library, in {@code jmh/peers/NAME}, where the
 * script {@code build FILE} compiles it. It does what {@link Racer} does, but knows no rate and no TLS, and ends when its
 * standard input ends.
 *
 * @param name with the version of the library
 * @param program the executable
 */
record NonJavaRacer(String name, Path program) implements RacerProgram {
    private static final String BUILD_SCRIPT = "build";
    private static final int EXIT_CANNOT_BUILD_HERE = 3;

    /** The names of all that have sources, sorted. */
    static List<String> names(Path sources) {
        try (Stream<Path> folders = Files.list(sources)) {
            return folders.filter(folder -> Files.exists(folder.resolve(BUILD_SCRIPT)))
                    .map(folder -> folder.getFileName().toString())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Compiles one. Blocks for seconds, or for minutes if modules must be downloaded.
     *
     * @param target folder of the executable
     * @param notices gets a line if this machine lacks what the build needs; then the result is empty
     * @throws RaceException if the build fails for another reason
     */
    static Optional<NonJavaRacer> build(String name, Path sources, Path target, Consumer<String> notices) {
        Path program = target.resolve(name);
        try {
            Files.createDirectories(target);
            Process build = new ProcessBuilder(
                            sources.resolve(name).resolve(BUILD_SCRIPT).toString(), program.toString())
                    .redirectErrorStream(true)
                    .start();
            List<String> lines =
                    build.inputReader(StandardCharsets.UTF_8).lines().toList();
            int exitCode = build.waitFor();
            if ((exitCode != 0 && exitCode != EXIT_CANNOT_BUILD_HERE) || lines.isEmpty()) {
                throw new RaceException(name + " cannot be built:\n" + String.join("\n", lines));
            }
            String last = lines.get(lines.size() - 1);
            if (exitCode == EXIT_CANNOT_BUILD_HERE) {
                notices.accept(name + " skipped: " + last);
                return Optional.empty();
            }
            return Optional.of(new NonJavaRacer(name + "-" + last, program));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Running start(RacerArguments arguments) {
        Path log = program.resolveSibling(program.getFileName() + ".log");
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments.commandLine()));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            return new RunningProcess(name, process, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record RunningProcess(String name, Process process, Path log) implements Running {
        @Override
        public boolean isAlive() {
            return process.isAlive();
        }

        @Override
        public String output() {
            try {
                return Files.readString(log);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public Ended awaitEnd(Duration patience) {
            try {
                if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new IllegalStateException(name + " has not ended within " + patience.toSeconds() + " s");
                }
                return new Ended(process.exitValue(), output());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
