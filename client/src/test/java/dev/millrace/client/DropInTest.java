package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Test;

/** A program that compiles with {@code KafkaProducer} compiles with ours after the name is replaced. */
class DropInTest {
    @Test
    void shouldHaveEveryPublicConstructorOfTheStockProducer() {
        assertThat(constructors(MillraceProducer.class)).containsAll(constructors(KafkaProducer.class));
        assertThat(constructors(KafkaProducer.class)).hasSizeGreaterThanOrEqualTo(4);
    }

    @Test
    void shouldHaveEveryPublicMethodOfTheStockProducer() {
        assertThat(methods(MillraceProducer.class)).containsAll(methods(KafkaProducer.class));
        assertThat(methods(KafkaProducer.class)).hasSizeGreaterThanOrEqualTo(15);
    }

    @Test
    void shouldImplementItselfWhateverTheInterfaceHasADefaultFor() {
        List<String> own = Stream.of(MillraceProducer.class.getDeclaredMethods())
                .map(DropInTest::erasedSignature)
                .toList();
        for (Method method : Producer.class.getMethods()) {
            assertThat(own).contains(erasedSignature(method));
        }
    }

    private static Set<String> constructors(Class<?> producer) {
        return Stream.of(producer.getConstructors())
                .map(DropInTest::signature)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Includes inherited methods, except those of {@code Object}. */
    private static Set<String> methods(Class<?> producer) {
        return Stream.of(producer.getMethods())
                .filter(method -> method.getDeclaringClass() != Object.class && !method.isSynthetic())
                .map(method -> Modifier.toString(method.getModifiers() & Modifier.STATIC) + " "
                        + method.getGenericReturnType() + " " + method.getName() + signature(method))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String signature(Executable executable) {
        return Arrays.toString(executable.getGenericParameterTypes());
    }

    private static String erasedSignature(Method method) {
        return method.getName() + Arrays.toString(method.getParameterTypes());
    }
}
