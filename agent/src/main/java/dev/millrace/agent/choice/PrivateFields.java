package dev.millrace.agent.choice;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Finds subclasses of {@code KafkaProducer} that read its private fields, such as Flink's, which changes the stock
 * producer's {@code transactionManager}. Their class files name the methods of the JDK that one needs for it.
 *
 * <p><b>Threads:</b> any.
 */
final class PrivateFields {
    private static final Set<String> WAYS = Set.of(
            "java/lang/Class.getDeclaredField",
            "java/lang/Class.getDeclaredFields",
            "java/lang/invoke/MethodHandles.privateLookupIn");

    private PrivateFields() {}

    /** Returns the first class from {@code type} up that does so, below {@code KafkaProducer}; null if none does. */
    static Class<?> readerOrNull(Class<?> type) {
        for (Class<?> c = type; c != KafkaProducer.class; c = c.getSuperclass()) {
            if (looksForFields(c)) {
                return c;
            }
        }
        return null;
    }

    private static boolean looksForFields(Class<?> type) {
        String file = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
        try (InputStream in = type.getResourceAsStream(file)) {
            if (in == null) { // made at run time, such as a mock
                return false;
            }
            Search search = new Search();
            new ClassReader(in).accept(search, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            return search.hasFound;
        } catch (IOException e) {
            return false;
        }
    }

    private static final class Search extends ClassVisitor {
        private boolean hasFound;

        Search() {
            super(Opcodes.ASM9);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] thrown) {
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitMethodInsn(int opcode, String owner, String called, String type, boolean isInterface) {
                    hasFound |= WAYS.contains(owner + "." + called);
                }
            };
        }
    }
}
