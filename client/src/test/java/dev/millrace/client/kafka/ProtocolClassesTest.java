package dev.millrace.client.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.MillraceProducer;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The classes of the protocol are initialized by one thread, so that no two can wait for each other for ever. */
class ProtocolClassesTest {
    private static final Pattern INITIALIZED = Pattern.compile("\\[(\\d+)].*Initializing '([^']+)'.*");
    private static final String PROTOCOL = "dev/millrace/kafka/common/protocol/";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "security.protocol=PLAINTEXT",
                "security.protocol=SASL_SSL,sasl.mechanism=SCRAM-SHA-256,sasl.jaas.config="
                        + "org.apache.kafka.common.security.scram.ScramLoginModule required username='a' password='b';",
                "transactional.id=one,compression.type=zstd"
            })
    void shouldBeInitializedByOneThreadWhileTheConstructorDoesTheRest(String settings) throws IOException {
        Path log = folder.resolve("initialized.log");
        JavaRuntime runtime = JavaRuntime.ofThisJvm();
        List<String> options = List.of("-Xlog:class+init=info:file=" + log + ":tid");

        try (JavaProgram program = JavaProgram.start(runtime, options, Construction.class, settings)) {
            assertThat(program.awaitEnd(Duration.ofMinutes(1)))
                    .as(program.output())
                    .isZero();
        }

        Map<String, String> threadOf = threadsByClass(log);
        String constructing = threadOf.get(MillraceProducer.class.getName().replace('.', '/'));
        Set<String> threads = threadOf.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(PROTOCOL + "types/")
                        || entry.getKey().startsWith(PROTOCOL + "ApiKeys"))
                .map(Map.Entry::getValue)
                .collect(Collectors.toSet());
        assertThat(constructing).isNotNull();
        assertThat(threads).hasSize(1).doesNotContain(constructing);
    }

    /** In a servlet container that would be the loader of the first web application that makes a producer. */
    @Test
    void shouldNotKeepTheContextClassLoaderOfTheFirstCaller() {
        try (JavaProgram program = JavaProgram.start(
                JavaRuntime.ofThisJvm(), List.of(), FirstCaller.class, "security.protocol=PLAINTEXT")) {
            assertThat(program.awaitEnd(Duration.ofMinutes(1)))
                    .as(program.output())
                    .isZero();
        }
    }

    private static Map<String, String> threadsByClass(Path log) throws IOException {
        Map<String, String> threads = new HashMap<>();
        for (String line : Files.readAllLines(log)) {
            Matcher matcher = INITIALIZED.matcher(line);
            if (matcher.matches()) {
                threads.put(matcher.group(2), matcher.group(1));
            }
        }
        return threads;
    }

    /** Main class that makes a producer, and closes it. */
    static final class Construction {
        private Construction() {}

        public static void main(String[] settings) {
            Map<String, Object> config = new HashMap<>(Map.of("bootstrap.servers", "127.0.0.1:9"));
            for (String setting : settings[0].split(",", -1)) {
                int equals = setting.indexOf('=');
                config.put(setting.substring(0, equals), setting.substring(equals + 1));
            }
            new MillraceProducer<>(config, new StringSerializer(), new StringSerializer()).close(Duration.ZERO);
        }
    }

    /** Main class that makes a producer with a context class loader, which it then drops. */
    static final class FirstCaller {
        private static final int MOST_COLLECTIONS = 100;

        private FirstCaller() {}

        public static void main(String[] settings) {
            Thread thread = Thread.currentThread();
            ClassLoader own = thread.getContextClassLoader();
            thread.setContextClassLoader(new URLClassLoader(new URL[0], own));
            WeakReference<ClassLoader> dropped = new WeakReference<>(thread.getContextClassLoader());
            Construction.main(settings);
            thread.setContextClassLoader(own);

            for (int i = 0; i < MOST_COLLECTIONS && !dropped.refersTo(null); i++) {
                System.gc();
            }

            if (!dropped.refersTo(null)) {
                throw new AssertionError("the loader is still there");
            }
        }
    }
}
