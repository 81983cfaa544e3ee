package dev.millrace.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.programs.RoundTrip;
import dev.millrace.testkit.Await;
import dev.millrace.testkit.process.ChildMaven;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A web application that has a producer for as long as it is deployed. It is deployed, used by several threads of Tomcat
 * and undeployed, again and again, and nothing may keep its class loader.
 */
@Tag("thorough")
@Tag("long")
class ServletContainerIT extends AgentFixture {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Path BUILT = Path.of("target/tomcat").toAbsolutePath();
    private static final String ALL_GONE = "OK - No memory leaks found";
    private static final int DEPLOYMENTS = 3;
    private static final int ORDERS = 100;
    private static final int THREADS = 8;

    @TempDir
    private Path folder;

    private final String topic = topic();

    @BeforeAll
    static void build() throws Exception {
        ChildMaven.plain().run(Path.of("src/test/tomcat"), "package", "-Dkafka.version=" + AgentRun.KAFKA);
    }

    /** It has kafka-clients itself, or all applications of this Tomcat share one. */
    @ParameterizedTest
    @CsvSource({"orders.war, '', 3", "orders-without-libraries.war, shared/*.jar, 1"})
    void shouldSendForAWebApplicationAndLetItGo(String war, String sharedJars, int loadersOfKafka) throws Exception {
        List<String> sent = new ArrayList<>();
        try (Tomcat tomcat =
                start(sharedJars.isEmpty() ? "" : BUILT.resolve(sharedJars).toString(), false)) {
            for (int i = 0; i < DEPLOYMENTS; i++) {
                deploy(tomcat, war);
                sent.addAll(order(tomcat, "deployment-" + i));
                tomcat.manage("undeploy?path=/orders");

                Await.until(
                        "the loader is collected",
                        PATIENCE,
                        () -> findLeaks(tomcat).startsWith(ALL_GONE));
            }

            assertThat(tomcat.output())
                    .doesNotContain("is the stock producer", "failed to stop it", "ThreadLocal")
                    .satisfies(output ->
                            assertThat(output.split(" are Millrace ", -1)).hasSize(1 + loadersOfKafka));
        }

        assertThat(new RoundTrip(servers(), topic).read())
                .extracting(record -> new String(record.value(), UTF_8))
                .containsExactlyInAnyOrderElementsOf(sent);
    }

    /** The weakened twin: the application does not close its producer. */
    @Test
    void shouldFindAWebApplicationThatDoesNotGo() throws Exception {
        try (Tomcat tomcat = start("", true)) {
            deploy(tomcat, "orders.war");
            tomcat.manage("undeploy?path=/orders");

            assertThat(findLeaks(tomcat)).contains("/orders");
        }
    }

    private Tomcat start(String sharedJars, boolean isLeaking) throws IOException {
        AgentRun run = AgentRun.withAgent()
                .option("-Dorders.servers=" + servers())
                .option("-Dorders.topic=" + topic)
                .option("-Dorders.leak=" + isLeaking);
        return new Tomcat(BUILT.resolve("apache-tomcat"), folder, sharedJars, run);
    }

    private static void deploy(Tomcat tomcat, String war) throws IOException {
        tomcat.manage("deploy?path=/orders&war=" + BUILT.resolve(war).toUri());
    }

    private static List<String> order(Tomcat tomcat, String name) throws Exception {
        List<String> orders = new ArrayList<>();
        List<Callable<String>> requests = new ArrayList<>();
        for (int i = 0; i < ORDERS; i++) {
            String order = name + "-" + i;
            orders.add(order);
            requests.add(() -> tomcat.get("orders/send?order=" + order));
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (Future<String> answer : threads.invokeAll(requests)) {
                assertThat(answer.get()).startsWith("sent ");
            }
        } finally {
            threads.shutdown();
        }
        return orders;
    }

    /** What Tomcat tells after a collection about loaders of applications that it has stopped. */
    private static String findLeaks(Tomcat tomcat) {
        try {
            return tomcat.manage("findleaks?statusLine=true");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
