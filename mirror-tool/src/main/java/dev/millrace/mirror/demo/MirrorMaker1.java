package dev.millrace.mirror.demo;

import dev.millrace.mirror.MirrorException;
import dev.millrace.mirror.cli.ClientConfigs;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.errors.InterruptException;

/**
 * MirrorMaker 1, last released with Kafka 3.9: {@code kafka.tools.MirrorMaker} with the jars of that release, from
 * Maven. Its temporary files are deleted by {@link #close}, or when this JVM ends.
 *
 * <p><b>Threads:</b> one.
 */
final class MirrorMaker1 implements AutoCloseable {
    private static final String POM = "/mirrormaker1-pom.xml";
    /** The options of its start script, with a larger heap: 256 MB are too little for 32 streams. */
    private static final List<String> SHIPPED_OPTIONS = List.of(
            "-server",
            "-XX:+UseG1GC",
            "-XX:MaxGCPauseMillis=20",
            "-XX:InitiatingHeapOccupancyPercent=35",
            "-XX:+ExplicitGCInvokesConcurrent",
            "-Xms1g",
            "-Xmx1g",
            DemoProcess.PRE_TOUCH_HEAP);
    /** Only warnings, which the demo shows if the run fails. */
    private static final List<String> LOGGING =
            List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showThreadName=false");

    private final Path folder;
    private final String classPath;

    /**
     * Gets the jars from Maven. Blocks while Maven downloads what the local repository lacks, about 40 MB the first
     * time.
     *
     * @throws MirrorException when there is no Maven, or it fails
     */
    MirrorMaker1() {
        try {
            folder = Files.createTempDirectory("mirrormaker1-");
            folder.toFile().deleteOnExit();
            classPath = resolve() + File.pathSeparator + ownClasses();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String resolve() throws IOException {
        Path pom = file("pom.xml");
        try (InputStream in = Objects.requireNonNull(MirrorMaker1.class.getResourceAsStream(POM), POM);
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
            throw MirrorException.failed("mirrormaker1 needs Maven to get its jars, and mvn cannot be started", e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
        if (exitCode != 0) {
            throw MirrorException.failed("Maven cannot get the jars of MirrorMaker 1: "
                    + output.lines().findFirst().orElse("it ended with exit code " + exitCode));
        }
        return Files.readString(result).strip();
    }

    /** The tool's jar or class folder, which contains {@link MirrorMakerRun}. */
    private static Path ownClasses() {
        try {
            return Path.of(MirrorMakerRun.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Mirrors the demo's topic in a process of its own. Blocks until that has ended.
     *
     * @param tuned whether to use the JVM options and client settings of this mirror, or MirrorMaker's own
     * @param records the number of records of the topic
     * @throws MirrorException with the last lines that it printed, when it fails
     */
    Measurement.Figures run(
            boolean tuned,
            String source,
            String target,
            String group,
            int streams,
            long records,
            LongConsumer progress) {
        Map<String, Object> consumer = tuned ? tunedConsumer(source, group) : shippedConsumer(source, group);
        consumer.put(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG, MirrorMakerRun.PollInterceptor.class.getName());
        Map<String, Object> producer = DemoRun.compressed(tuned ? tunedProducer(target) : shippedProducer(target));
        producer.put(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, MirrorMakerRun.AckInterceptor.class.getName());
        List<String> args = List.of(
                Long.toString(records),
                "--consumer.config=" + store("consumer.properties", consumer),
                "--producer.config=" + store("producer.properties", producer),
                "--include=" + Demo.TOPIC,
                "--num.streams=" + streams);
        List<String> options = new ArrayList<>(tuned ? DemoProcess.ownOptions() : SHIPPED_OPTIONS);
        options.addAll(LOGGING);
        return DemoProcess.run(classPath, options, MirrorMakerRun.class, args, progress);
    }

    private static Map<String, Object> tunedConsumer(String source, String group) {
        Map<String, Object> consumer = new HashMap<>(ClientConfigs.consumer(null, source, group));
        consumer.remove(CommonClientConfigs.CLIENT_ID_CONFIG); // MirrorMaker sets the ids of its consumers.
        return consumer;
    }

    private static Map<String, Object> tunedProducer(String target) {
        Map<String, Object> producer = new HashMap<>(ClientConfigs.producer(null, target));
        // The default of the client. MirrorMaker's own is 1, which would slow it down.
        producer.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5);
        return producer;
    }

    private static Map<String, Object> shippedConsumer(String source, String group) {
        return new HashMap<>(Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, source,
                ConsumerConfig.GROUP_ID_CONFIG, group,
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"));
    }

    private static Map<String, Object> shippedProducer(String target) {
        return Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, target);
    }

    private Path store(String name, Map<String, Object> config) {
        Properties properties = new Properties();
        config.forEach((key, value) -> properties.setProperty(key, value.toString()));
        Path file = file(name);
        try (OutputStream out = Files.newOutputStream(file)) {
            properties.store(out, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    private Path file(String name) {
        Path file = folder.resolve(name);
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
