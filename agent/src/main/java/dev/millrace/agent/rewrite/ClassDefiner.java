package dev.millrace.agent.rewrite;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;

/**
 * Defines classes in loaders of others. The agent has opened {@code java.lang} to this class.
 *
 * <p><b>Threads:</b> any.
 */
final class ClassDefiner {
    private final Method findLoadedClass = ClassLoader.class.getDeclaredMethod("findLoadedClass", String.class);
    private final Method defineClass = ClassLoader.class.getDeclaredMethod(
            "defineClass", String.class, byte[].class, int.class, int.class, ProtectionDomain.class);

    ClassDefiner() throws ReflectiveOperationException {
        findLoadedClass.setAccessible(true);
        defineClass.setAccessible(true);
    }

    /**
     * Defines a class in a loader, unless that has it.
     *
     * @param protectionDomain that of its neighbours: a package of a signed jar takes no class of other signers
     */
    Class<?> define(ClassLoader loader, String name, byte[] bytes, ProtectionDomain protectionDomain)
            throws ReflectiveOperationException {
        Class<?> known = (Class<?>) findLoadedClass.invoke(loader, name);
        if (known != null) { // an earlier attempt to define the neighbour has failed
            return known;
        }
        try {
            return (Class<?>) defineClass.invoke(loader, name, bytes, 0, bytes.length, protectionDomain);
        } catch (InvocationTargetException e) {
            throw new ReflectiveOperationException("Cannot define " + name + ": " + e.getCause(), e);
        }
    }

    static void setStatic(Class<?> type, String name, Object value) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        field.set(null, value);
    }
}
