package dev.millrace.client.it.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.client.support.TestRunner;
import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.process.JavaProgram;
import dev.millrace.testkit.process.JavaRuntime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a build on JDK 17 cannot test of newer JDKs; runs on an installed JDK of at least 25. */
@Tag("thorough")
class NewestJdkIT {
    private static final int FEATURE = 25;
    private static final String ROUND_TRIP_TESTS = "dev.millrace.client.it.batches.RoundTripIT";

    @Test
    void shouldPinNoneOfTenThousandVirtualThreadsThatSend() {
        JavaRuntime runtime = newestJdk();
        try (KafkaCluster cluster = KafkaCluster.builder().start()) {
            for (String topic : VirtualThreads.TOPICS) {
                cluster.createTopic(topic, VirtualThreads.PARTITIONS, 1, Map.of());
            }
            run(runtime, VirtualThreads.class, cluster.bootstrapServers());
        }
    }

    @Test
    void shouldPassTheRoundTripTests() {
        String result = run(newestJdk(), TestRunner.class, ROUND_TRIP_TESTS);

        assertThat(result).matches("[1-9]\\d* tests passed, 0 failed, 0 skipped");
    }

    /** Returns the last line of its output. A failure gives another exit code than 0, and the output has the reason. */
    private static String run(JavaRuntime runtime, Class<?> main, String... arguments) {
        try (JavaProgram program = JavaProgram.start(runtime, List.of("-Xmx1g"), main, arguments)) {
            int exitCode = program.awaitEnd(Duration.ofMinutes(4));
            assertThat(exitCode).as(program.output()).isZero();
            String result = program.output().lines().reduce("", (previous, line) -> line);
            System.out.println("NewestJdkIT: " + result);
            return result;
        }
    }

    private static JavaRuntime newestJdk() {
        Optional<JavaRuntime> found = JavaRuntime.ofAtLeast(FEATURE);
        String notice = "SKIPPED: no JDK " + FEATURE + " or newer is installed here; set JAVA_HOME_" + FEATURE;
        if (found.isEmpty()) {
            System.out.println(notice);
        }
        assumeTrue(found.isPresent(), notice);
        return found.get();
    }
}
