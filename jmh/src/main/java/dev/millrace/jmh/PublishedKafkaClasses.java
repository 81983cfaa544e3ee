package dev.millrace.jmh;

import dev.millrace.testkit.process.ClassLocation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Loads the classes of one published version of {@code kafka-clients}, separate from other versions in the same JVM.
 * The build copies its jars to {@code target/racers/NAME}.
 *
 * <p>Their methods are called through handles. The JIT compiler inlines a constant handle like a direct call; constant
 * are those in a static final field, or in a record in such a field. {@link MetadataBenchmark} measures one class both
 * ways to show this.
 */
public final class PublishedKafkaClasses {
    private static final String CLUSTER = "common.Cluster";

    private final ClassLoader loader;

    /** @param name of the folder in {@code target/racers}, such as {@code kafka-0.9.0.1} */
    public PublishedKafkaClasses(String name) {
        try {
            Path racer = ClassLocation.of(PublishedKafkaClasses.class)
                    .resolveSibling("racers")
                    .resolve(name);
            this.loader =
                    new URLClassLoader(name, jars(racer).toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        } catch (IOException e) {
            throw new UncheckedIOException("The jars of " + name + " are missing: mvn package copies them", e);
        }
    }

    private static List<URL> jars(Path directory) throws IOException {
        List<URL> jars = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.jar")) {
            for (Path jar : files) {
                jars.add(jar.toUri().toURL());
            }
        }
        return jars;
    }

    /** The class with this name in {@code org.apache.kafka}. */
    public Class<?> find(String name) throws ClassNotFoundException {
        return Class.forName("org.apache.kafka." + name, true, loader);
    }

    /** {@code fetch} of one of the metadata classes: {@code metadata -> cluster}. */
    MethodHandle fetch(Class<?> metadata) throws ReflectiveOperationException {
        return method(metadata, "fetch", find(CLUSTER), MethodType.methodType(Object.class, Object.class));
    }

    /** {@code partitionCountForTopic}: {@code (cluster, topic) -> int}. */
    public MethodHandle partitionCount() throws ReflectiveOperationException {
        MethodType type = MethodType.methodType(int.class, Object.class, String.class);
        return method(find(CLUSTER), "partitionCountForTopic", Integer.class, type);
    }

    /**
     * A public method of one of these classes. In the type of the handle, {@code Object} stands for every class that is
     * not of the JDK, also for the receiver.
     *
     * @param type the type of the handle, which may unbox the result
     */
    static MethodHandle method(Class<?> owner, String name, Class<?> returned, MethodType type)
            throws ReflectiveOperationException {
        MethodType declared = type.dropParameterTypes(0, 1).changeReturnType(returned);
        return MethodHandles.publicLookup().findVirtual(owner, name, declared).asType(type);
    }
}
