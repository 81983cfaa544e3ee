package dev.millrace.agent.rewrite;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Changes {@code KafkaProducer} when a class loader defines it, and defines {@code MillraceSwitch} beside it. If
 * anything fails, the class stays as it is.
 *
 * <p><b>Threads:</b> any. Holds no class loader, so that each can be unloaded.
 */
public final class KafkaProducerTransformer implements ClassFileTransformer {
    private static final String CLASS = "org/apache/kafka/clients/producer/KafkaProducer";

    private final Function<ClassLoader, ClassLoader> besideKafka;
    private final Pattern clientIds;
    private final String millraceVersion;
    private final ClassDefiner definer = new ClassDefiner();

    /**
     * Is called once, when the agent starts.
     *
     * @param besideKafka returns the loader of Millrace's classes for a loader that has kafka-clients
     */
    public KafkaProducerTransformer(
            Function<ClassLoader, ClassLoader> besideKafka, Pattern clientIds, String millraceVersion)
            throws ReflectiveOperationException {
        this.besideKafka = besideKafka;
        this.clientIds = clientIds;
        this.millraceVersion = millraceVersion;
    }

    @Override
    public byte[] transform(
            ClassLoader loader,
            String className,
            Class<?> redefined,
            ProtectionDomain protectionDomain,
            byte[] classFile) {
        if (!CLASS.equals(className) || loader == null || redefined != null) {
            return null;
        }
        try {
            byte[] rewritten = KafkaProducerRewriter.rewrite(classFile);
            Class<?> millraceSwitch =
                    definer.define(loader, KafkaProducerRewriter.SWITCH, bytesOfSwitch(), protectionDomain);
            ClassDefiner.setStatic(
                    millraceSwitch, "choice", new LazyChoice(besideKafka.apply(loader), clientIds, millraceVersion));
            return rewritten;
        } catch (Throwable t) {
            // Not to the program's logging, whose classes it may be loading right now.
            System.err.println("Millrace agent: KafkaProducer in " + loader + " stays the stock producer, because the"
                    + " agent failed: " + t);
            return null;
        }
    }

    private static byte[] bytesOfSwitch() throws IOException {
        String file = "META-INF/millrace/" + KafkaProducerRewriter.SWITCH.replace('.', '/') + ".class";
        try (InputStream in = KafkaProducerTransformer.class.getClassLoader().getResourceAsStream(file)) {
            return in.readAllBytes();
        }
    }
}
