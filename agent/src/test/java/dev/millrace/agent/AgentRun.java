package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.mirrormaker.MavenJars;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** A run of a user's program, with the agent as it is packaged or without it. */
final class AgentRun {
    static final Path AGENT = Path.of(System.getProperty("millrace.agent.jar"));

    /** The kafka-clients of a program for which a test names no other. */
    static final String KAFKA = System.getProperty("millrace.kafka.version");

    static final String NEWEST_KAFKA = System.getProperty("millrace.kafka.newest.version");

    /** Where the programs are, and the other versions of kafka-clients. */
    static final Path TESTS = AGENT.resolveSibling("test-classes");

    private static final Duration LONGEST = Duration.ofMinutes(3);

    private final List<String> options = new ArrayList<>(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"));
    private String classPath = classPath(KAFKA);

    private AgentRun() {}

    static AgentRun withAgent() {
        return new AgentRun().option("-javaagent:" + AGENT);
    }

    /** Of a program with these jars and SLF4J's simple logger, which tells what the agent does. */
    static AgentRun withAgent(MavenJars jars) {
        AgentRun run = withAgent().option("-Dorg.slf4j.simpleLogger.log.dev.millrace.agent=info");
        MavenJars.LOGGING.forEach(run::option);
        return run.classPath(List.of(jars.classPath()));
    }

    static AgentRun withoutAgent() {
        return new AgentRun();
    }

    AgentRun option(String option) {
        options.add(option);
        return this;
    }

    /** The program has this kafka-clients on its class path. */
    AgentRun kafka(String version) {
        return classPath(List.of(classPath(version)));
    }

    AgentRun classPath(List<String> entries) {
        classPath = String.join(File.pathSeparator, entries);
        return this;
    }

    /** Adds jars of the test's own class path, by the beginnings of their names. */
    AgentRun jars(String... names) {
        return classPath(List.of(classPath, jarsOfThisJvm(names)));
    }

    /** Runs it to the end, and returns all that it printed, its log too. */
    String run(String main, String... arguments) {
        try (JavaProgram program = start(main, arguments)) {
            int exitCode = program.awaitEnd(LONGEST);
            assertThat(exitCode).as(program.output()).isZero();
            return program.output();
        }
    }

    /** Starts it and returns at once. */
    JavaProgram start(String main, String... arguments) {
        return JavaProgram.start(new JavaRuntime(JavaRuntime.ofThisJvm().home(), classPath), options, main, arguments);
    }

    /** What a program has on its class path: itself, kafka-clients of this version, and a logging library. */
    static String classPath(String kafkaVersion) {
        return String.join(
                File.pathSeparator,
                TESTS.toString(),
                TESTS.resolve("kafka-clients/kafka-clients-" + kafkaVersion + ".jar")
                        .toString(),
                jarsOfThisJvm("slf4j-api-", "logback-"));
    }

    private static String jarsOfThisJvm(String... names) {
        List<String> jars = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> Stream.of(names).anyMatch(new File(entry).getName()::startsWith))
                .toList();
        assertThat(jars).hasSizeGreaterThanOrEqualTo(names.length);
        return String.join(File.pathSeparator, jars);
    }
}
