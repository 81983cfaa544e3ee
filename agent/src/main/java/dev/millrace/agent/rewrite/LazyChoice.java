package dev.millrace.agent.rewrite;

import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * The {@code ProducerChoice} beside one kafka-clients, loaded at the first call: when {@code KafkaProducer} is being
 * defined, classes that need it cannot be loaded yet.
 *
 * <p><b>Threads:</b> any.
 */
final class LazyChoice implements UnaryOperator<Object> {
    private static final String CHOICE = "dev.millrace.agent.choice.ProducerChoice";

    private final ClassLoader millrace;
    private final Pattern clientIds;
    private final String millraceVersion;
    private UnaryOperator<Object> choice;

    LazyChoice(ClassLoader millrace, Pattern clientIds, String millraceVersion) {
        this.millrace = millrace;
        this.clientIds = clientIds;
        this.millraceVersion = millraceVersion;
    }

    @Override
    public Object apply(Object construction) {
        return loaded().apply(construction);
    }

    @SuppressWarnings("unchecked") // the class is ours
    private synchronized UnaryOperator<Object> loaded() {
        if (choice == null) {
            try {
                choice = Class.forName(CHOICE, true, millrace)
                        .asSubclass(UnaryOperator.class)
                        .getConstructor(Pattern.class, String.class)
                        .newInstance(clientIds, millraceVersion);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("Cannot load Millrace from the agent's jar", e);
            }
        }
        return choice;
    }
}
