package dev.millrace.client.io;

import dev.millrace.testkit.twin.Weakening;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** The client and its tests once more, with a few methods weakened. All other classes are the same as outside. */
final class WeakenedClasses extends ClassLoader {
    private static final String OURS = "dev.millrace.client.";

    private final List<Weakening> weakenings;

    WeakenedClasses(List<Weakening> weakenings) {
        super(WeakenedClasses.class.getClassLoader());
        this.weakenings = weakenings;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = in.readAllBytes();
            for (Weakening weakening : weakenings) {
                if (name.equals(OURS + weakening.owner())) {
                    bytes = weakening.applyTo(bytes);
                }
            }
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
