package dev.millrace.testkit.process;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The JDK, the class path and the environment that a child JVM runs with.
 *
 * @param home the value of {@code java.home}
 * @param classPath in the form of {@code -cp}
 * @param environment variables in addition to those of this process
 */
public record JavaRuntime(Path home, String classPath, Map<String, String> environment) {
    /** With the environment of this process. */
    public JavaRuntime(Path home, String classPath) {
        this(home, classPath, Map.of());
    }

    /** The JDK, the class path and the environment of this JVM. */
    public static JavaRuntime ofThisJvm() {
        return new JavaRuntime(Path.of(System.getProperty("java.home")), System.getProperty("java.class.path"));
    }

    /**
     * The class path of this JVM with the oldest installed JDK that is new enough. Looks at {@code JAVA_HOME} and
     * {@code JAVA_HOME_*}, beside the JDK of this JVM, and where packages, SDKMAN and IDEs install JDKs.
     *
     * @param feature the version, such as 25
     * @return empty if none is found
     */
    public static Optional<JavaRuntime> ofAtLeast(int feature) {
        return installed()
                .filter(home -> feature(home) >= feature)
                .min(Comparator.comparingInt(JavaRuntime::feature).thenComparing(Comparator.naturalOrder()))
                .map(home -> new JavaRuntime(home, ofThisJvm().classPath));
    }

    /** The same JDK, with a jar or folder in front of the class path. */
    public JavaRuntime withFirstOnClassPath(Path jar) {
        return new JavaRuntime(home, jar + File.pathSeparator + classPath, environment);
    }

    /** The same JDK and environment with another class path. */
    JavaRuntime withClassPath(List<String> entries) {
        return new JavaRuntime(home, String.join(File.pathSeparator, entries), environment);
    }

    /** The same JDK and environment, without the jars whose file names match, such as {@code kafka[-_].*}. */
    public JavaRuntime withoutJars(String regex) {
        String kept = Arrays.stream(classPath.split(File.pathSeparator))
                .filter(entry -> !new File(entry).getName().matches(regex))
                .collect(Collectors.joining(File.pathSeparator));
        return new JavaRuntime(home, kept, environment);
    }

    private static Stream<Path> installed() {
        Path userHome = Path.of(System.getProperty("user.home"));
        List<Path> homes = new ArrayList<>();
        homes.add(ofThisJvm().home);
        for (Map.Entry<String, String> variable : System.getenv().entrySet()) {
            if (variable.getKey().startsWith("JAVA_HOME")) {
                homes.add(Path.of(variable.getValue()));
            }
        }
        for (Path folder : List.of(
                ofThisJvm().home.resolve(".."),
                Path.of("/usr/lib/jvm"),
                Path.of("/Library/Java/JavaVirtualMachines"),
                userHome.resolve(".sdkman/candidates/java"),
                userHome.resolve(".jdks"))) {
            homes.addAll(children(folder));
        }
        return homes.stream()
                .flatMap(home -> Stream.of(home, home.resolve("Contents/Home"))) // the latter on macOS
                .filter(home -> Files.isExecutable(home.resolve("bin/java")));
    }

    private static List<Path> children(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            stream.forEach(children::add);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot look for JDKs in " + folder, e);
        }
        return children;
    }

    /** The version in the JDK's {@code release} file; 0 if the file does not tell it. */
    private static int feature(Path home) {
        Properties release = new Properties();
        try (InputStream in = Files.newInputStream(home.resolve("release"))) {
            release.load(in);
            String version = release.getProperty("JAVA_VERSION", "0").replace("\"", "");
            return Runtime.Version.parse(version).feature();
        } catch (IOException | IllegalArgumentException e) {
            return 0;
        }
    }
}
