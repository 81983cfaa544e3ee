package dev.millrace.agent;

import java.io.File;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.CodeSource;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Reads the settings and registers the transformer of {@code KafkaProducer}.
 *
 * <p><b>Threads:</b> one, before the program's {@code main}.
 */
public final class AgentStart {
    private static final String ENABLED = "millrace.agent.enabled";
    private static final String CLIENT_IDS = "millrace.agent.client.ids";
    private static final String TRANSFORMER = "dev.millrace.agent.rewrite.KafkaProducerTransformer";

    private AgentStart() {}

    /**
     * Registers the transformer, and returns null; or returns why the settings do not let it.
     *
     * @throws Exception the jar cannot be read, or the JVM is unlike any known one
     */
    public static String start(Instrumentation instrumentation) throws Exception {
        String enabled = System.getProperty(ENABLED, "true");
        String clientIds = System.getProperty(CLIENT_IDS, ".*");
        if (!enabled.equals("true")) {
            return ENABLED + "=" + enabled + (enabled.equals("false") ? "" : ", which is neither true nor false");
        }
        try {
            register(instrumentation, Pattern.compile(clientIds));
            return null;
        } catch (PatternSyntaxException e) {
            return CLIENT_IDS + "=" + clientIds + " is not a regular expression: " + e.getDescription();
        }
    }

    private static void register(Instrumentation instrumentation, Pattern clientIds) throws Exception {
        CodeSource source = AgentStart.class.getProtectionDomain().getCodeSource();
        JarFile jar = new JarFile(new File(source.getLocation().toURI()));
        ClassLoader ours = new InnerClassLoader(jar, AgentStart.class.getClassLoader());
        Function<ClassLoader, ClassLoader> besideKafka = kafka -> new InnerClassLoader(jar, kafka);
        String version = AgentStart.class.getPackage().getImplementationVersion();
        Class<?> transformer = Class.forName(TRANSFORMER, true, ours);

        Module java = Object.class.getModule();
        Map<String, Set<Module>> opened = Map.of("java.lang", Set.of(transformer.getModule()));
        instrumentation.redefineModule(java, Set.of(), Map.of(), opened, Set.of(), Map.of());
        // Not as one that can retransform: the JVM asks those, such as OpenTelemetry's, afterwards, in any order of
        // options.
        instrumentation.addTransformer(
                (ClassFileTransformer) transformer
                        .getConstructor(Function.class, Pattern.class, String.class)
                        .newInstance(besideKafka, clientIds, version),
                false);
    }
}
