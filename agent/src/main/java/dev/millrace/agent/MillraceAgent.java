package dev.millrace.agent;

import java.lang.instrument.Instrumentation;

/**
 * What the JVM calls for {@code -javaagent:millrace-agent.jar}. Each {@code KafkaProducer} of the program then is a
 * Millrace producer, unless one of these system properties says otherwise:
 *
 * <ul>
 *   <li>{@code millrace.agent.enabled=false}: the agent does nothing.
 *   <li>{@code millrace.agent.client.ids=REGEX}: only producers whose whole {@code client.id} matches.
 * </ul>
 *
 * <p>Is compiled for Java 8 and refers to no class for Java 17, because a JVM that cannot load this class does not start.
 */
public final class MillraceAgent {
    private static final double OLDEST_JAVA = 17;

    /** The option may be in JAVA_TOOL_OPTIONS and on the command line, and a class is to be changed once. */
    private static boolean isStarted;

    private MillraceAgent() {}

    /**
     * Prepares the JVM for the first {@code KafkaProducer}. Throws nothing: if that fails, it prints a line, and each
     * producer is the stock one.
     */
    public static void premain(String arguments, Instrumentation instrumentation) {
        if (isStarted) {
            return;
        }
        isStarted = true;
        String java = System.getProperty("java.specification.version");
        try {
            if (Double.parseDouble(java) < OLDEST_JAVA) {
                sayNothingChanges("it needs Java 17 or newer, and this is Java " + java);
            } else {
                Object whyNot = Class.forName("dev.millrace.agent.AgentStart")
                        .getMethod("start", Instrumentation.class)
                        .invoke(null, instrumentation);
                if (whyNot != null) {
                    sayNothingChanges(whyNot);
                }
            }
        } catch (Throwable t) { // one that escapes would end the JVM
            sayNothingChanges("it failed: " + rootOf(t));
        }
    }

    /** Prints a line. There is no logging yet: the program has not begun. */
    private static void sayNothingChanges(Object why) {
        System.err.println("Millrace agent: each KafkaProducer is the stock producer, because " + why);
    }

    private static Throwable rootOf(Throwable thrown) {
        Throwable root = thrown;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }
}
