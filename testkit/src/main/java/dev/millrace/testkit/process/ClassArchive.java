package dev.millrace.testkit.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The classes of a program that is started often, in a file that the JVM maps into memory instead of loading and
 * verifying them again (class data sharing). A broker then starts with less than half of the CPU time.
 *
 * <p>The file is in the folder that the system property {@code millrace.testkit.archives} names; without it no program has
 * one. The first start in a build makes it. A program that starts meanwhile does without.
 *
 * <p><b>Threads:</b> any.
 */
public final class ClassArchive {
    private static final String FOLDER = "millrace.testkit.archives";

    /** Those that the JVM did not make, for example because it has none of the JDK's own classes. */
    private static final Set<Path> FAILED = ConcurrentHashMap.newKeySet();

    private final JavaRuntime runtime;
    private final JavaRuntime jars;
    private final List<String> options;

    private ClassArchive(JavaRuntime runtime, JavaRuntime jars, List<String> options) {
        this.runtime = runtime;
        this.jars = jars;
        this.options = options;
    }

    /**
     * Returns the archive of a program, after making it if it is missing.
     *
     * @param name of the program; the beginning of the file's name
     * @param isNeeded tells which entries of the class path the program needs; they are the archive's, if they are jars
     * @param training runs the program once with this runtime and these options of the JVM, to an orderly end
     */
    public static ClassArchive of(
            String name,
            JavaRuntime runtime,
            Predicate<String> isNeeded,
            BiConsumer<JavaRuntime, List<String>> training) {
        String folder = System.getProperty(FOLDER);
        if (folder == null) {
            return new ClassArchive(runtime, runtime, List.of());
        }
        ClassArchive none = inOrder(runtime, isNeeded);
        try {
            Path file = Path.of(folder).resolve(name + "-" + key(none.jars) + ".jsa");
            if (!Files.exists(file) && (FAILED.contains(file) || !make(file, name, none.jars, training))) {
                return none;
            }
            return new ClassArchive(none.runtime, none.jars, List.of("-XX:SharedArchiveFile=" + file));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make a class archive of " + name + " in " + folder, e);
        }
    }

    /** The runtime with the class path in the order that the archive needs. */
    public JavaRuntime runtime() {
        return runtime;
    }

    /** What the JVM needs to use it. */
    public List<String> options() {
        return options;
    }

    /**
     * The JVM takes an archive if the class path begins with the jars that it was made with, and they have not changed. So
     * those come first that a build does not make anew, in an order that is the same in all modules; folders, of which
     * there can be no archive, are last.
     */
    private static ClassArchive inOrder(JavaRuntime runtime, Predicate<String> isNeeded) {
        List<String> entries = entries(runtime);
        List<String> archived = entries.stream()
                .filter(entry -> Files.isRegularFile(Path.of(entry)))
                .filter(isNeeded)
                .sorted(Comparator.comparing(ClassArchive::isOurs).thenComparing(Comparator.naturalOrder()))
                .toList();
        Stream<String> others = entries.stream().filter(entry -> !archived.contains(entry));
        return new ClassArchive(
                runtime.withClassPath(Stream.concat(archived.stream(), others).toList()),
                runtime.withClassPath(archived),
                List.of());
    }

    private static List<String> entries(JavaRuntime runtime) {
        return List.of(runtime.classPath().split(File.pathSeparator));
    }

    private static boolean isOurs(String entry) {
        return new File(entry).getName().startsWith("millrace-");
    }

    private static String key(JavaRuntime jars) throws IOException {
        StringBuilder all = new StringBuilder(jars.home().toString());
        for (String jar : entries(jars)) {
            Path path = Path.of(jar);
            all.append(jar).append(Files.size(path)).append(Files.getLastModifiedTime(path));
        }
        return UUID.nameUUIDFromBytes(all.toString().getBytes(StandardCharsets.UTF_8))
                .toString();
    }

    /** Returns whether it is there now; it is not while another process makes it. */
    private static boolean make(
            Path file, String name, JavaRuntime jars, BiConsumer<JavaRuntime, List<String>> training)
            throws IOException {
        Files.createDirectories(file.getParent());
        try (FileChannel channel = FileChannel.open(
                        file.resolveSibling(name + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            if (lock == null) {
                return false;
            }
            if (Files.exists(file)) {
                return true;
            }
            try (DirectoryStream<Path> former = Files.newDirectoryStream(file.getParent(), name + "-*.jsa*")) {
                for (Path each : former) {
                    Files.delete(each);
                }
            }
            Path part = Path.of(file + ".part");
            training.accept(jars, List.of("-XX:ArchiveClassesAtExit=" + part));
            if (!Files.exists(part)) {
                FAILED.add(file);
                return false;
            }
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (OverlappingFileLockException e) {
            return false; // another thread of this process makes it
        }
    }
}
