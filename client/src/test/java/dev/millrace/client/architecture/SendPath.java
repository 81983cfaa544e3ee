package dev.millrace.client.architecture;

import static java.util.stream.Collectors.toCollection;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Walks all methods of the given classes that a method can reach by calls, method references and lambdas, and lists
 * those that lock or block. A call to an overridable method is a call to every override among the given classes.
 *
 * <p><b>Not seen:</b> what a method of the JDK or Kafka does inside, unless it is listed here, and what is called
 * through a functional interface of the JDK. Such a call is reported, so that the test names each of them.
 */
final class SendPath {
    /** Methods that lock or block: the full name of a class and a method, or {@code *} for all methods. */
    private static final Set<String> BLOCKING = Set.of(
            "java.lang.Object.wait",
            "java.lang.Object.notify",
            "java.lang.Object.notifyAll",
            "java.lang.Thread.sleep",
            "java.lang.Thread.join",
            "java.lang.Thread.yield",
            "java.lang.Thread.onSpinWait",
            "java.util.concurrent.Semaphore.*",
            "java.util.concurrent.CyclicBarrier.*",
            "java.util.concurrent.Phaser.*",
            "java.util.concurrent.Exchanger.*",
            "java.util.concurrent.CountDownLatch.await",
            "java.util.concurrent.Future.get",
            "java.util.concurrent.CompletableFuture.get",
            "java.util.concurrent.CompletableFuture.join",
            "org.apache.kafka.common.metrics.Sensor.record",
            "java.util.Hashtable.*",
            "java.util.Vector.*",
            "java.lang.StringBuffer.*");

    /** These lock a bin of the table even if the key is there. */
    private static final Set<String> LOCKING_MAP_METHODS = Set.of(
            "put",
            "putAll",
            "putIfAbsent",
            "computeIfAbsent",
            "computeIfPresent",
            "compute",
            "merge",
            "replace",
            "replaceAll",
            "remove",
            "clear");

    private static final Set<String> MAPS =
            Set.of("java.util.concurrent.ConcurrentHashMap", "java.util.concurrent.ConcurrentMap", "java.util.Map");

    private final JavaClasses classes;
    private final Map<String, String> stops;
    private final Set<String> usedStops = new HashSet<>();
    private final Map<String, Set<String>> monitors = new HashMap<>();
    private final Map<JavaCodeUnit, JavaCodeUnit> calledBy = new LinkedHashMap<>();

    /**
     * Prepares a walk.
     *
     * @param stops {@code Class.method} that are not entered, or {@code Class.method -> Class.method} for a call that
     *     is passed over; each with the reason
     */
    SendPath(JavaClasses classes, Map<String, String> stops) {
        this.classes = classes;
        this.stops = stops;
    }

    /** Follows every call from this method; call it for as many methods as needed. */
    SendPath from(Class<?> type, String method, Class<?>... parameters) {
        JavaCodeUnit root = classes.get(type).getMethod(method, parameters);
        ArrayDeque<JavaCodeUnit> open = new ArrayDeque<>();
        if (!calledBy.containsKey(root)) {
            calledBy.put(root, root);
            open.add(root);
        }
        while (!open.isEmpty()) {
            JavaCodeUnit caller = open.poll();
            for (AccessTarget.CodeUnitAccessTarget target : targets(caller)) {
                if (isStop(nameOf(caller) + " -> " + nameOf(target))) {
                    continue;
                }
                for (JavaCodeUnit callee : implementations(target)) {
                    if (!isStop(nameOf(callee)) && !calledBy.containsKey(callee)) {
                        calledBy.put(callee, caller);
                        open.add(callee);
                    }
                }
            }
        }
        return this;
    }

    /** All methods that were reached, as {@code Class.method}. */
    Set<String> reached() {
        return calledBy.keySet().stream().map(SendPath::nameOf).collect(toCollection(TreeSet::new));
    }

    /** The stops that the walk did not come to: they are out of date. */
    Set<String> uselessStops() {
        Set<String> useless = new TreeSet<>(stops.keySet());
        useless.removeAll(usedStops);
        return useless;
    }

    /** One line for each call on the way that locks, blocks or cannot be followed. */
    List<String> violations() {
        List<String> found = new ArrayList<>();
        for (JavaCodeUnit unit : calledBy.keySet()) {
            if (unit.getModifiers().contains(JavaModifier.SYNCHRONIZED)) {
                found.add(nameOf(unit) + " is synchronized" + way(unit));
            }
            if (monitorsOf(unit.getOwner()).contains(unit.getName())) {
                found.add(nameOf(unit) + " has a synchronized block" + way(unit));
            }
            for (AccessTarget.CodeUnitAccessTarget target : targets(unit)) {
                String what = verdict(target);
                if (what != null && !isStop(nameOf(unit) + " -> " + nameOf(target))) {
                    found.add(nameOf(unit) + " " + what + " " + nameOf(target) + way(unit));
                }
            }
        }
        return found.stream().distinct().toList();
    }

    private String verdict(AccessTarget.CodeUnitAccessTarget target) {
        String owner = target.getOwner().getName();
        String method = target.getName();
        if (owner.startsWith("java.util.concurrent.locks.")
                || BLOCKING.contains(owner + "." + method)
                || BLOCKING.contains(owner + ".*")
                || isBlockingQueueCall(target)
                || target.getOwner().isAssignableTo(AbstractQueuedSynchronizer.class)) { // a lock of our own
            return "calls";
        }
        if (MAPS.contains(owner) && LOCKING_MAP_METHODS.contains(method)) {
            return "locks a bin by";
        }
        boolean functional = owner.startsWith("java.util.function.")
                || owner.equals("java.lang.Runnable")
                || owner.equals("java.util.concurrent.Callable");
        return functional ? "calls what cannot be followed:" : null;
    }

    private static boolean isBlockingQueueCall(AccessTarget.CodeUnitAccessTarget target) {
        return target.getOwner().isAssignableTo(java.util.concurrent.BlockingQueue.class);
    }

    private static List<AccessTarget.CodeUnitAccessTarget> targets(JavaCodeUnit unit) {
        List<AccessTarget.CodeUnitAccessTarget> targets = new ArrayList<>();
        for (JavaAccess<?> access : unit.getAccessesFromSelf()) {
            if (access.getTarget() instanceof AccessTarget.CodeUnitAccessTarget target) {
                targets.add(target);
            }
        }
        return targets;
    }

    /** The method itself and all its overrides, if they are ours. */
    private List<JavaCodeUnit> implementations(AccessTarget.CodeUnitAccessTarget target) {
        List<JavaCodeUnit> found = new ArrayList<>();
        target.resolveMember().filter(member -> isOurs(member.getOwner())).ifPresent(found::add);
        if (target.getOwner().getPackageName().startsWith("java.")) {
            return found;
        }
        for (JavaClass type : classes) {
            if (type.isAssignableTo(target.getOwner().getName())) {
                type.getMethods().stream()
                        .filter(method -> method.getName().equals(target.getName())
                                && method.getRawParameterTypes().size()
                                        == target.getRawParameterTypes().size())
                        .forEach(found::add);
            }
        }
        return found;
    }

    private boolean isOurs(JavaClass type) {
        return classes.contain(type.getName());
    }

    private boolean isStop(String name) {
        if (stops.containsKey(name)) {
            usedStops.add(name);
            return true;
        }
        return false;
    }

    private String way(JavaCodeUnit unit) {
        StringBuilder way = new StringBuilder(" (");
        JavaCodeUnit at = unit;
        while (calledBy.get(at) != at) {
            at = calledBy.get(at);
            way.append(" <- ").append(nameOf(at));
        }
        return way.append(')').toString();
    }

    private static String nameOf(JavaCodeUnit unit) {
        return simple(unit.getOwner()) + "." + unit.getName();
    }

    private static String nameOf(AccessTarget target) {
        return simple(target.getOwner()) + "." + target.getName();
    }

    /** With the outer class's name, without the package. */
    private static String simple(JavaClass type) {
        String name = type.getName();
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** The methods that have a synchronized block, in themselves or in a lambda. */
    private Set<String> monitorsOf(JavaClass type) {
        return monitors.computeIfAbsent(type.getName(), name -> {
            Set<String> found = new HashSet<>();
            URI source = type.getSource().orElseThrow().getUri();
            try (InputStream bytes = source.toURL().openStream()) {
                new ClassReader(bytes).accept(new MonitorFinder(found), ClassReader.SKIP_DEBUG);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return found;
        });
    }

    private static final class MonitorFinder extends ClassVisitor {
        private final Set<String> found;

        MonitorFinder(Set<String> found) {
            super(Opcodes.ASM9);
            this.found = found;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] thrown) {
            String inSource = name.startsWith("lambda$") ? name.split("\\$", -1)[1] : name;
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitInsn(int opcode) {
                    if (opcode == Opcodes.MONITORENTER) {
                        found.add(inSource);
                    }
                }
            };
        }
    }
}
