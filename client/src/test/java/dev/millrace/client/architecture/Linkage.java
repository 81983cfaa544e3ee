package dev.millrace.client.architecture;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.objectweb.asm.Opcodes;

/**
 * Classes as a JVM links them: finds the references to classes, methods and fields that would end in a
 * {@code LinkageError}. A compiler finds them too, but only with the jars that it compiles with.
 */
final class Linkage {
    /** By internal name, such as {@code java/lang/Object}. */
    private final Map<String, LinkedClass> classes = new HashMap<>();

    /** Of the JDK and of other libraries, which the class path of this JVM has. */
    private final Map<String, Optional<LinkedClass>> others = new HashMap<>();

    /** The classes in these jars and folders. */
    static Collection<LinkedClass> read(Path... jarsAndFolders) {
        Map<String, LinkedClass> read = new TreeMap<>();
        for (Path path : jarsAndFolders) {
            try {
                if (Files.isDirectory(path)) {
                    readFolder(path, read);
                } else {
                    try (FileSystem jar = FileSystems.newFileSystem(path)) {
                        readFolder(jar.getPath("/"), read);
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot read the classes in " + path, e);
            }
        }
        return read.values();
    }

    private static void readFolder(Path folder, Map<String, LinkedClass> read) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = file.toString();
                if (name.endsWith(".class") && !name.contains("META-INF") && !name.endsWith("module-info.class")) {
                    LinkedClass linked = LinkedClass.read(Files.readAllBytes(file));
                    read.putIfAbsent(linked.name(), linked);
                }
            }
        }
    }

    /** Adds classes; of two with the same name the first wins, as on a class path. */
    Linkage with(Collection<LinkedClass> more) {
        more.forEach(linked -> classes.putIfAbsent(linked.name(), linked));
        return this;
    }

    /**
     * What the classes of {@code from} refer to in vain, by what is missing; the values are the names of the classes that
     * refer to it.
     *
     * @param prefixes of the internal names of the classes of interest
     */
    Map<String, Set<String>> missing(Collection<LinkedClass> from, List<String> prefixes) {
        Map<String, Set<String>> missing = new TreeMap<>();
        for (LinkedClass user : from) {
            Set<String> absent = new HashSet<>();
            for (String type : user.types()) {
                if (prefixes.stream().anyMatch(type::startsWith) && !isAccessible(type, user)) {
                    absent.add(type);
                    missing.computeIfAbsent(type, any -> new TreeSet<>()).add(user.name());
                }
            }
            for (LinkedClass.Reference reference : user.references()) {
                String owner = reference.owner();
                if (prefixes.stream().anyMatch(owner::startsWith)
                        && !absent.contains(owner)
                        && !isAccessible(reference, user)) {
                    missing.computeIfAbsent(owner + "." + reference.member(), any -> new TreeSet<>())
                            .add(user.name());
                }
            }
        }
        return missing;
    }

    /**
     * The methods of Kafka's interfaces and abstract classes that classes of {@code from} do not have, though they are not
     * abstract themselves; the values are the names of these classes.
     */
    Map<String, Set<String>> unimplemented(Collection<LinkedClass> from) {
        Map<String, Set<String>> missing = new TreeMap<>();
        for (LinkedClass implementation : from) {
            if ((implementation.access() & Opcodes.ACC_ABSTRACT) != 0) {
                continue;
            }
            List<LinkedClass> lineage = lineage(implementation.name());
            Set<String> implemented = new HashSet<>();
            lineage.forEach(type -> type.members().forEach((member, access) -> {
                if ((access & Opcodes.ACC_ABSTRACT) == 0) {
                    implemented.add(member);
                }
            }));
            for (LinkedClass type : lineage) {
                type.members().forEach((member, access) -> {
                    if ((access & Opcodes.ACC_ABSTRACT) != 0 && !implemented.contains(member)) {
                        missing.computeIfAbsent(type.name() + "." + member, any -> new TreeSet<>())
                                .add(implementation.name());
                    }
                });
            }
        }
        return missing;
    }

    /** The class and all its supertypes. */
    private List<LinkedClass> lineage(String type) {
        Map<String, LinkedClass> lineage = new LinkedHashMap<>();
        Deque<String> next = new ArrayDeque<>(List.of(type));
        while (!next.isEmpty()) {
            find(next.remove()).ifPresent(found -> {
                if (lineage.put(found.name(), found) == null) {
                    next.addAll(found.supertypes());
                }
            });
        }
        return List.copyOf(lineage.values());
    }

    /** The classes of {@code from} that the roots refer to, directly or through each other; the roots among them. */
    static Set<String> reachable(Collection<LinkedClass> roots, Collection<LinkedClass> from) {
        Map<String, LinkedClass> byName = new HashMap<>();
        from.forEach(linked -> byName.put(linked.name(), linked));
        Set<String> reached = new HashSet<>();
        Deque<LinkedClass> next = new ArrayDeque<>(roots);
        roots.forEach(root -> reached.add(root.name()));
        while (!next.isEmpty()) {
            for (String type : next.remove().types()) {
                if (byName.containsKey(type) && reached.add(type)) {
                    next.add(byName.get(type));
                }
            }
        }
        return reached;
    }

    private boolean isAccessible(String type, LinkedClass user) {
        return find(type)
                .map(found -> (found.access() & Opcodes.ACC_PUBLIC) != 0 || found.isInPackageOf(user.name()))
                .orElse(false);
    }

    /** Looks where a JVM looks: in the class, its superclasses, and all their interfaces; constructors only in the class. */
    private boolean isAccessible(LinkedClass.Reference reference, LinkedClass user) {
        boolean isInherited = !reference.member().startsWith("<init>");
        for (LinkedClass type : isInherited
                ? lineage(reference.owner())
                : find(reference.owner()).stream().toList()) {
            Integer access = type.members().get(reference.member());
            if (access != null && (access & Opcodes.ACC_PRIVATE) != 0) {
                return type.isNestedWith(user.name());
            } else if (access != null) {
                return (access & (Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED)) != 0 || type.isInPackageOf(user.name());
            }
        }
        return false;
    }

    private Optional<LinkedClass> find(String type) {
        LinkedClass found = classes.get(type);
        boolean isChecked = type.startsWith("org/apache/kafka/") || type.startsWith("dev/millrace/");
        return found != null || isChecked
                ? Optional.ofNullable(found)
                : others.computeIfAbsent(type, Linkage::readOther);
    }

    private static Optional<LinkedClass> readOther(String type) {
        try (InputStream in = ClassLoader.getSystemResourceAsStream(type + ".class")) {
            return in == null ? Optional.empty() : Optional.of(LinkedClass.read(in.readAllBytes()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
