package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.Ports;
import dev.millrace.testkit.process.JavaProgram;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/**
 * A Tomcat in a JVM of its own, started as {@code catalina.sh run} does, with the manager of its distribution.
 *
 * <p><b>Threads:</b> any may send requests.
 */
final class Tomcat implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final List<String> PACKAGES_OPENED_BY_CATALINA_SH = List.of(
            "java.base/java.lang",
            "java.base/java.lang.reflect",
            "java.base/java.io",
            "java.base/java.util",
            "java.base/java.util.concurrent",
            "java.rmi/sun.rmi.transport");

    private final HttpClient http = HttpClient.newHttpClient();
    private final int port = Ports.findFree(1).remove();
    private final Path base;
    private final JavaProgram program;

    /**
     * Returns when it takes requests.
     *
     * @param home where it is unpacked
     * @param base an empty folder for its configuration and applications
     * @param sharedJars of its common loader, beside its own, as {@code FOLDER/*.jar}; or an empty string
     * @param run with the options of its applications
     */
    Tomcat(Path home, Path base, String sharedJars, AgentRun run) throws IOException {
        this.base = base;
        configure(home, sharedJars);
        for (String opened : PACKAGES_OPENED_BY_CATALINA_SH) {
            run.option("--add-opens=" + opened + "=ALL-UNNAMED");
        }
        program = run.option("-Djava.util.logging.config.file=" + base.resolve("conf/logging.properties"))
                .option("-Djava.util.logging.manager=org.apache.juli.ClassLoaderLogManager")
                .option("-Dcatalina.home=" + home)
                .option("-Dcatalina.base=" + base)
                .classPath(List.of(home + "/bin/bootstrap.jar", home + "/bin/tomcat-juli.jar"))
                .start("org.apache.catalina.startup.Bootstrap", "start");
        try {
            Await.until("Tomcat takes requests", PATIENCE, this::isUp);
        } catch (RuntimeException | Error e) {
            program.close();
            throw e;
        }
    }

    private void configure(Path home, String sharedJars) throws IOException {
        for (String folder : List.of("conf/Catalina/localhost", "logs", "webapps")) {
            Files.createDirectories(base.resolve(folder));
        }
        try (Stream<Path> files = Files.list(home.resolve("conf"))) {
            for (Path file : files.toList()) {
                Files.copy(file, base.resolve("conf").resolve(file.getFileName()));
            }
        }
        replace("conf/server.xml", "port=\"8005\"", "port=\"-1\"");
        replace("conf/server.xml", "port=\"8080\"", "port=\"" + port + "\" address=\"127.0.0.1\"");
        replace("conf/catalina.properties", "\ncommon.loader=", "\ncommon.loader=\"" + sharedJars + "\",");
        Files.writeString(
                base.resolve("conf/tomcat-users.xml"),
                "<tomcat-users><user username='test' password='test' roles='manager-script'/></tomcat-users>");
        Files.writeString(
                base.resolve("conf/Catalina/localhost/manager.xml"),
                "<Context docBase='${catalina.home}/webapps/manager' privileged='true'/>");
    }

    private void replace(String file, String text, String by) throws IOException {
        String content = Files.readString(base.resolve(file));
        assertThat(content).contains(text);
        Files.writeString(base.resolve(file), content.replace(text, by));
    }

    private boolean isUp() {
        assertThat(program.isAlive()).as(program.output()).isTrue();
        try {
            return request("manager/text/list").statusCode() == 200;
        } catch (IOException e) {
            return false; // it does not listen yet
        }
    }

    /** The answer to a GET request. */
    String get(String path) throws IOException {
        HttpResponse<String> response = request(path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    private HttpResponse<String> request(String path) throws IOException {
        String credentials = Base64.getEncoder().encodeToString("test:test".getBytes(StandardCharsets.UTF_8));
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + path))
                .header("Authorization", "Basic " + credentials)
                .build();
        try {
            return http.send(request, BodyHandlers.ofString());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Gives the manager a command, and returns its answer. */
    String manage(String command) throws IOException {
        String answer = get("manager/text/" + command);
        assertThat(answer).startsWith("OK - ");
        return answer;
    }

    /** All that it and its applications have logged. */
    String output() {
        return program.output();
    }

    @Override
    public void close() {
        program.close();
    }
}
