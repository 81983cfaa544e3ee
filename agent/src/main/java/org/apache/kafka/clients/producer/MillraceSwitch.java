package org.apache.kafka.clients.producer;

import java.util.function.UnaryOperator;
import org.apache.kafka.common.KafkaException;
import org.slf4j.LoggerFactory;

/**
 * What the constructor of {@code KafkaProducer} asks whether Millrace shall do its work. The agent defines this class
 * beside {@code KafkaProducer}, in the same loader, which needs to see no other class of the agent.
 *
 * <p><b>Threads:</b> any.
 */
final class MillraceSwitch {
    /** How many arguments of the constructor the public ones give: a configuration and two serializers. */
    private static final int PUBLIC_ARGUMENTS = 3;

    /** Beside those, Kafka's own tests give metadata, a network client and interceptors. */
    private static final int ARGUMENTS_OF_TESTS = 3;

    /** The agent sets it before {@code KafkaProducer} is defined. Has types of the JDK only. */
    @SuppressWarnings("unused")
    private static UnaryOperator<Object> choice;

    private MillraceSwitch() {}

    /**
     * Returns the producer that does the work, or null if the stock one does.
     *
     * @param construction the {@code KafkaProducer} and the arguments of its constructor
     * @throws KafkaException the producer cannot be constructed
     */
    static Producer<?, ?> millraceOrNull(Object[] construction) {
        for (int i = 1 + PUBLIC_ARGUMENTS; i <= PUBLIC_ARGUMENTS + ARGUMENTS_OF_TESTS; i++) {
            if (construction[i] != null) {
                return null;
            }
        }
        try {
            return (Producer<?, ?>) choice.apply(construction);
        } catch (KafkaException e) {
            throw e;
        } catch (Throwable t) { // a failure of the agent is not one of the program
            LoggerFactory.getLogger("dev.millrace.agent")
                    .warn("A KafkaProducer is the stock producer, because the agent failed", t);
            return null;
        }
    }
}
