package dev.millrace.mirror.cli;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles Ctrl-C. The JVM's own handling tells a shutdown hook only of the first one. Signals are reached by
 * reflection, because the compiler warns of {@code sun.misc.Signal}, which the module {@code jdk.unsupported} exports.
 */
final class Interrupts {
    private static final Logger LOG = LoggerFactory.getLogger(Interrupts.class);

    private Interrupts() {}

    /** Calls the action at each Ctrl-C, in a thread of the JVM; does nothing where the JVM does not allow that. */
    static void handle(Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object handler = Proxy.newProxyInstance(
                    handlerType.getClassLoader(), new Class<?>[] {handlerType}, (self, method, args) -> {
                        if (method.getName().equals("handle")) {
                            action.run();
                        }
                        return null;
                    });
            signal.getMethod("handle", signal, handlerType)
                    .invoke(null, signal.getConstructor(String.class).newInstance("INT"), handler);
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            Throwable why = e instanceof InvocationTargetException ? e.getCause() : e;
            LOG.debug("A second Ctrl-C will not be noticed: {}", why.toString());
        }
    }
}
