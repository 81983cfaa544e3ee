package dev.millrace.mirror.support;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs that this machine may have, and that no test may rely on. */
public final class Programs {
    private Programs() {}

    /** The first of these that is on the {@code PATH}. */
    public static Optional<Path> find(String... names) {
        return Stream.of(names)
                .flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
