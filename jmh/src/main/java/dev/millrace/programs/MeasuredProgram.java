package dev.millrace.programs;

import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.util.List;
import java.util.stream.Stream;

/** A program that runs again and again, each time in a new JVM. */
interface MeasuredProgram extends AutoCloseable {
    List<String> NAMES = List.of(ProducerPerformance.NAME, MirrorMaker2.NAME, ProducerPerformance.OF_ONE_RECORD);

    /** Starts the brokers that the program with this name, one of {@link #NAMES}, needs. */
    static MeasuredProgram named(String name, int records) {
        return name.equals(MirrorMaker2.NAME) ? new MirrorMaker2(records) : new ProducerPerformance(name, records);
    }

    String name();

    /** What {@link #run} returns. */
    String unit();

    boolean isMoreBetter();

    /**
     * Runs it to its end, and returns what was measured.
     *
     * @param options of the JVM
     * @throws IllegalStateException if it fails, with its output
     */
    double run(List<String> options);

    @Override
    void close();

    /** Starts the main class of a program in a JVM with these options, and returns at once. */
    static JavaProgram start(
            MavenJars jars, List<String> options, List<String> more, String main, String... arguments) {
        List<String> all = Stream.of(options, MavenJars.LOGGING, more)
                .flatMap(List::stream)
                .toList();
        JavaRuntime runtime = new JavaRuntime(JavaRuntime.ofThisJvm().home(), jars.classPath());
        return JavaProgram.start(runtime, all, main, arguments);
    }
}
