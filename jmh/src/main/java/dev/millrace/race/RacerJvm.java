package dev.millrace.race;

import dev.millrace.testkit.process.ChildLog;
import dev.millrace.testkit.process.ClassLocation;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * How to start the JVM of a {@link Racer}. The class path of a stock client has the published jars of its version,
 * which the build copies to {@code target/racers/NAME}, and nothing of the version that this module is built with.
 *
 * @param name as in {@code --producers}
 * @param producerClass the class of the producer
 * @param classPath the value of {@code -cp}
 */
public record RacerJvm(String name, String producerClass, String classPath) implements RacerProgram {
    public static final String MILLRACE = "millrace";

    /** The racer of {@link LoadProducer}, which is no producer to compare. */
    static final RacerJvm LOAD = new RacerJvm(
            "load", LoadProducer.class.getName(), JavaRuntime.ofThisJvm().classPath());

    /**
     * JVM options of every racer. The heap is touched first, because the first touch of a page costs as much as many
     * records.
     */
    public static final List<String> OPTIONS = List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch", "-XX:+UseParallelGC");

    /** The jars of this JVM's class path that a program with Millrace has, and those that {@link Racer} needs. */
    private static final String OTHER_JARS = "(?!(millrace-(client|jmh|testkit)|jctools-core|slf4j-api|kafka-clients"
            + "|zstd-jni|lz4-java|snappy-java|HdrHistogram)-).*\\.jar";

    /** The names that {@link #named} knows. */
    static List<String> names() {
        try (Stream<Path> folders = Files.list(stockClientsFolder())) {
            return Stream.concat(
                            Stream.of(MILLRACE),
                            folders.map(f -> f.getFileName().toString()).sorted())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("The jars of the stock clients are missing: build the module", e);
        }
    }

    /** The racer with this name, which must be one of {@link #names}. */
    static RacerJvm named(String name) {
        if (name.equals(MILLRACE)) {
            return new RacerJvm(
                    name,
                    "dev.millrace.client.MillraceProducer",
                    JavaRuntime.ofThisJvm().withoutJars(OTHER_JARS).classPath());
        }
        List<Path> path = new ArrayList<>();
        path.add(ClassLocation.of(Racer.class));
        path.add(ClassLocation.of(Histogram.class));
        path.add(ClassLocation.of(ChildLog.class)); // Prints the warnings of child JVMs.
        try (Stream<Path> jars = Files.list(stockClientsFolder().resolve(name))) {
            jars.sorted().forEach(path::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String classPath = path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        return new RacerJvm(name, "org.apache.kafka.clients.producer.KafkaProducer", classPath);
    }

    /**
     * Starts a racer and returns at once. It ends with this JVM at the latest.
     *
     * @param main {@link Racer}, or a class that calls it
     * @param more options for the JVM, in addition to {@link #OPTIONS}
     * @param environment variables to add
     * @param arguments of {@link Racer}, without {@code class}
     */
    public JavaProgram start(Class<?> main, List<String> more, Map<String, String> environment, String... arguments) {
        List<String> options = new ArrayList<>(OPTIONS);
        options.addAll(more);
        return start(main, options, environment, new RacerArguments(arguments));
    }

    /** Starts {@link FirstRecord} in a JVM without options, as most tools run, and returns at once. */
    JavaProgram startFirstRecord(RacerArguments arguments) {
        return start(FirstRecord.class, List.of(), Map.of(), arguments);
    }

    private JavaProgram start(
            Class<?> main, List<String> options, Map<String, String> environment, RacerArguments arguments) {
        JavaRuntime runtime = new JavaRuntime(JavaRuntime.ofThisJvm().home(), classPath, environment);
        String[] all = arguments.set("class", producerClass).commandLine();
        return JavaProgram.start(runtime, options, main, all);
    }

    @Override
    public Running start(RacerArguments arguments) {
        return new RunningJvm(start(Racer.class, List.of(), Map.of(), arguments.commandLine()));
    }

    private record RunningJvm(JavaProgram program) implements Running {
        @Override
        public boolean isAlive() {
            return program.isAlive();
        }

        @Override
        public String output() {
            return program.output();
        }

        @Override
        public Ended awaitEnd(Duration patience) {
            return new Ended(program.awaitEnd(patience), program.output());
        }

        @Override
        public void close() {
            program.close();
        }
    }

    private static Path stockClientsFolder() {
        return ClassLocation.of(Racer.class).resolveSibling("racers");
    }

    /** The source of the library for {@link ClockReadCounter}. */
    static Path clockReadsSource() {
        return ClassLocation.of(Racer.class).resolve("../../lib/clock-reads.c").normalize();
    }

    /** The sources of the racers in other languages. */
    static Path nonJavaSources() {
        return ClassLocation.of(Racer.class).resolve("../../peers").normalize();
    }

    /** Where their executables are. */
    static Path nonJavaPrograms() {
        return ClassLocation.of(Racer.class).resolveSibling("peers");
    }
}
