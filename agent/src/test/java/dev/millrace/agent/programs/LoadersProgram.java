package dev.millrace.agent.programs;

import java.io.File;
import java.lang.ref.WeakReference;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/** Has kafka-clients in class loaders of its own, of several versions at once, and drops them in the end. */
public final class LoadersProgram {
    private static final int MOST_COLLECTIONS = 100;

    private LoadersProgram() {}

    /**
     * Runs it.
     *
     * @param arguments bootstrap servers, topic, and for each loader its class path
     */
    public static void main(String[] arguments) throws Exception {
        List<URLClassLoader> loaders = new ArrayList<>();
        for (int i = 2; i < arguments.length; i++) {
            // As in OSGi, the first sees no package of the JDK beside those that kafka-clients and the logging use.
            ClassLoader parent = i == 2 ? new FewPackages() : ClassLoader.getPlatformClassLoader();
            loaders.add(new URLClassLoader(urls(arguments[i]), parent));
        }
        List<WeakReference<ClassLoader>> dropped = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < loaders.size(); i++) {
            threads.add(start(loaders.get(i), arguments[0], arguments[1] + "-" + i));
            dropped.add(new WeakReference<>(loaders.get(i)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (URLClassLoader loader : loaders) {
            loader.close();
        }
        loaders.clear();
        threads.clear();
        for (int i = 0; i < MOST_COLLECTIONS && !areGone(dropped); i++) {
            System.gc();
        }
        System.out.println(areGone(dropped) ? "all loaders are gone" : "a loader is still there");
    }

    private static boolean areGone(List<WeakReference<ClassLoader>> loaders) {
        return loaders.stream().allMatch(loader -> loader.refersTo(null));
    }

    /**
     * Each has client ids of its own: Kafka's JMX reporters remove each other's beans of the same name, and one that
     * misses a bean when it closes leaves the others registered, which keep its loader.
     */
    private static Thread start(ClassLoader loader, String bootstrapServers, String topic) {
        Thread thread = new Thread(() -> {
            try {
                loader.loadClass(PlainProgram.class.getName())
                        .getMethod("main", String[].class)
                        .invoke(null, (Object) new String[] {bootstrapServers, topic, "client.id=" + topic});
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.setContextClassLoader(loader);
        thread.start();
        return thread;
    }

    private static URL[] urls(String classPath) throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            urls.add(new File(entry).toURI().toURL());
        }
        return urls.toArray(URL[]::new);
    }

    private static final class FewPackages extends ClassLoader {
        FewPackages() {
            super(ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("sun.")) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }
}
