package dev.millrace.mirror.support;

import dev.millrace.mirror.cli.Main;
import dev.millrace.testkit.process.ClassArchive;
import dev.millrace.testkit.process.CommandProcess;
import dev.millrace.testkit.process.JavaRuntime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code mirror} in a process of its own, as a user starts it. Killed on close. */
public final class MirrorProcess extends CommandProcess {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Pattern HTTP_ADDRESS = Pattern.compile("shows what it does at (http://\\S+)");

    private MirrorProcess(ProcessBuilder command) {
        super(command);
    }

    public static MirrorProcess start(String... args) {
        ClassArchive archive = MirrorArchive.get();
        return startWith(archive.runtime(), archive.options(), args);
    }

    /** As the other, whatever the parent process does with Ctrl-C: what is ignored there would be ignored here, too. */
    public static MirrorProcess startForInterrupt(String... args) {
        ClassArchive archive = MirrorArchive.get();
        return start(List.of("env", "--default-signal=INT"), archive.runtime(), archive.options(), args);
    }

    /** As the others, with the caller's class path and options of the JVM. */
    public static MirrorProcess startWith(JavaRuntime runtime, List<String> options, String... args) {
        return start(List.of(), runtime, options, args);
    }

    private static MirrorProcess start(
            List<String> through, JavaRuntime runtime, List<String> options, String... args) {
        List<String> command = new ArrayList<>(through);
        command.add(runtime.home().resolve("bin/java").toString());
        command.addAll(options);
        // The JVM starts faster, and these runs are short.
        command.addAll(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", runtime.classPath(), Main.class.getName()));
        command.addAll(Arrays.asList(args));
        return start(new ProcessBuilder(command));
    }

    /** Starts a mirror by a command and an environment of the caller's. */
    public static MirrorProcess start(ProcessBuilder command) {
        return new MirrorProcess(command);
    }

    /** The address at which it has printed that it shows what it does; empty until it has. */
    public Optional<URI> httpAddress() {
        return printed()
                .map(HTTP_ADDRESS::matcher)
                .filter(Matcher::find)
                .map(found -> URI.create(found.group(1)))
                .findFirst();
    }

    /** Asks for one of its pages, such as {@code readyz}; it must have printed its address. Blocks until it answers. */
    public HttpResponse<String> get(String page) {
        URI address = httpAddress().orElseThrow().resolve(page);
        try {
            return CLIENT.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
