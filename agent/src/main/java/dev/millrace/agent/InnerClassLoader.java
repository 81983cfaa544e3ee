package dev.millrace.agent;

import java.io.IOException;
import java.io.InputStream;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Defines the classes in the folder {@code META-INF/millrace} of the agent's jar, where no other loader looks, and takes
 * all others from its parent. There is one whose parent is the loader of the agent, for what changes classes, and one for
 * each loader that has kafka-clients, for Millrace: its JCTools never meets the application's, and its SLF4J and
 * kafka-clients are the application's. It is reachable only from classes of its parent, so both can be unloaded together.
 *
 * <p><b>Threads:</b> any.
 */
final class InnerClassLoader extends ClassLoader {
    private static final String FOLDER = "META-INF/millrace/";

    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;

    InnerClassLoader(JarFile jar, ClassLoader parent) {
        super("millrace", parent);
        this.jar = jar;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            JarEntry entry = jar.getJarEntry(FOLDER + name.replace('.', '/') + ".class");
            return entry == null ? loadFromOutside(name) : define(name, entry);
        }
    }

    /** In OSGi, the loader of kafka-clients has only those packages of the JDK that kafka-clients itself imports. */
    private Class<?> loadFromOutside(String name) throws ClassNotFoundException {
        try {
            return getParent().loadClass(name);
        } catch (ClassNotFoundException e) {
            return getPlatformClassLoader().loadClass(name);
        }
    }

    private Class<?> define(String name, JarEntry entry) throws ClassNotFoundException {
        try (InputStream in = jar.getInputStream(entry)) {
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length, InnerClassLoader.class.getProtectionDomain());
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
