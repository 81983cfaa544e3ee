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
 * A producer in another language: a small program of ours on its library, in {@code jmh/peers/NAME}, where {@code build FILE}
 * makes it. It does what {@link Racer} does, but for a rate, a gate and TLS, and ends when its standard input does.
 *
 * @param name with the version of the library
 * @param program to run
 */
record NonJavaRacer(String name, Path program) implements RacerProgram {
    private static final String BUILD_SCRIPT = "build";
    private static final int EXIT_CANNOT_BUILD_HERE = 3;

    /** Those that there are. */
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
     * Builds one; blocks for seconds, minutes if modules are to be fetched.
     *
     * @param target where programs go
     * @param notices gets a line when this machine lacks what it needs; then it is empty
     * @throws RaceException when it cannot be built though nothing is lacking
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
    public Ended run(RacerArguments arguments, Duration patience) {
        Path log = program.resolveSibling(program.getFileName() + ".log");
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments.commandLine()));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new IllegalStateException(name + " has not ended within " + patience.toSeconds() + " s");
                }
            } finally {
                process.destroyForcibly();
            }
            return new Ended(process.exitValue(), Files.readString(log));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
