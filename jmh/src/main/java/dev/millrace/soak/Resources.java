package dev.millrace.soak;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import javax.management.ObjectName;

/**
 * What Kafka's clients in this JVM hold, other than memory.
 *
 * @param threads those that belong to a client
 * @param beans of the clients' metrics
 * @param files open files and sockets of the whole JVM
 */
record Resources(Set<Thread> threads, Set<ObjectName> beans, long files) {
    private static final UnixOperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class);

    static Resources now() {
        Set<Thread> threads = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("| ")) // after it comes the client id
                .collect(Collectors.toSet());
        Set<ObjectName> beans = ManagementFactory.getPlatformMBeanServer().queryNames(null, null).stream()
                .filter(name -> name.getDomain().startsWith("kafka."))
                .collect(Collectors.toSet());
        return new Resources(threads, beans, SYSTEM.getOpenFileDescriptorCount());
    }

    /** What is held now and was not then; it may hold fewer files. */
    Resources since(Resources then) {
        Set<Thread> newThreads = new HashSet<>(threads);
        newThreads.removeAll(then.threads);
        Set<ObjectName> newBeans = new HashSet<>(beans);
        newBeans.removeAll(then.beans);
        return new Resources(newThreads, newBeans, files - then.files);
    }
}
