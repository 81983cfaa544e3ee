package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.client.delivery.DeliveryFuture;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
        Map<String, Type> ours = returnTypes(MillraceProducer.class);
        Map<String, Type> stock = returnTypes(KafkaProducer.class);

        assertThat(ours).containsKeys(stock.keySet().toArray(String[]::new));
        assertThat(stock)
                .hasSizeGreaterThanOrEqualTo(14)
                .allSatisfy((method, type) -> assertThat(withInterfaces(ours.get(method)))
                        .as("what %s returns", method)
                        .contains(type.toString()));
    }

    @Test
    void shouldReturnAFutureThatTellsTheCertaintyWithoutACast() {
        assertThat(returnTypes(MillraceProducer.class).values())
                .filteredOn(type -> type == DeliveryFuture.class)
                .hasSize(2);
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

    /** By method; includes inherited methods, except those of {@code Object}. */
    private static Map<String, Type> returnTypes(Class<?> producer) {
        return Stream.of(producer.getMethods())
                .filter(method -> method.getDeclaringClass() != Object.class && !method.isSynthetic())
                .collect(Collectors.toMap(
                        method -> Modifier.toString(method.getModifiers() & Modifier.STATIC) + " " + method.getName()
                                + signature(method),
                        Method::getGenericReturnType));
    }

    /** A type, and the interfaces that it extends if it is a class without type parameters. */
    private static List<String> withInterfaces(Type type) {
        Stream<Type> interfaces = type instanceof Class<?> raw ? Stream.of(raw.getGenericInterfaces()) : Stream.empty();
        return Stream.concat(Stream.of(type), interfaces).map(Type::toString).toList();
    }

    private static String signature(Executable executable) {
        return Arrays.toString(executable.getGenericParameterTypes());
    }

    private static String erasedSignature(Method method) {
        return method.getName() + Arrays.toString(method.getParameterTypes());
    }
}
