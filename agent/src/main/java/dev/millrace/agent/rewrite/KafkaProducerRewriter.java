package dev.millrace.agent.rewrite;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Adds to the class file of {@code KafkaProducer} what lets Millrace do the work of an instance. In Java it would read
 * so:
 *
 * <pre>
 * private final transient Producer $millrace;
 *
 * KafkaProducer(ProducerConfig config, …) {       // the one that all public constructors call
 *     $millrace = MillraceSwitch.millraceOrNull(new Object[] {this, config, …});
 *     if ($millrace != null) {
 *         clientId = config.getString("client.id"); // and what else other agents read
 *         return;
 *     }
 *     …                                           // as before
 * }
 *
 * public void flush() {                           // and so on
 *     if ($millrace != null) {
 *         $millrace.flush();
 *         return;
 *     }
 *     …                                           // as before
 * }
 * </pre>
 *
 * <p>All else stays: an instance with a null {@code $millrace} is the stock producer to the last private field.
 *
 * <p><b>Threads:</b> any.
 */
final class KafkaProducerRewriter {
    /** The class that the constructor asks; the agent defines it beside {@code KafkaProducer}. */
    static final String SWITCH = "org.apache.kafka.clients.producer.MillraceSwitch";

    private static final String PRODUCER = "org/apache/kafka/clients/producer/Producer";
    private static final String CONFIG = "org/apache/kafka/clients/producer/ProducerConfig";
    private static final String API_VERSIONS = "org/apache/kafka/clients/ApiVersions";
    private static final String SERIALIZER = "org/apache/kafka/common/serialization/Serializer";
    private static final String OBJECT = "java/lang/Object";
    private static final String CONSTRUCTOR = "<init>";
    private static final String FIELD = "$millrace";

    /** The one that all public constructors call, in 3.8 to 4.4; only tests of Kafka call others. */
    private static final String MAIN_CONSTRUCTOR_BEGINS = "(L" + CONFIG + ";L" + SERIALIZER + ";L" + SERIALIZER
            + ";Lorg/apache/kafka/clients/producer/internals/ProducerMetadata;";

    private KafkaProducerRewriter() {}

    /**
     * Returns the changed class file.
     *
     * @throws IllegalArgumentException this version of {@code KafkaProducer} has no constructor of the known kind
     */
    static byte[] rewrite(byte[] classFile) {
        ClassReader reader = new ClassReader(classFile);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        Rewriting rewriting = new Rewriting(reader.getClassName(), writer);
        reader.accept(rewriting, ClassReader.EXPAND_FRAMES);
        if (!rewriting.hasMainConstructor) {
            throw new IllegalArgumentException("this version of kafka-clients is not supported");
        }
        return writer.toByteArray();
    }

    private static final class Rewriting extends ClassVisitor {
        private final String owner;
        private final Map<String, String> fields = new HashMap<>();
        private boolean hasMainConstructor;

        Rewriting(String owner, ClassVisitor next) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
        }

        @Override
        public FieldVisitor visitField(int access, String name, String type, String signature, Object value) {
            fields.put(name, type);
            return super.visitField(access, name, type, signature, value);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] thrown) {
            MethodVisitor method = super.visitMethod(access, name, type, signature, thrown);
            if (name.equals(CONSTRUCTOR) && type.startsWith(MAIN_CONSTRUCTOR_BEGINS) && takesObjects(type)) {
                hasMainConstructor = true;
                return new MainConstructor(owner, type, fields, method);
            }
            boolean isPublic = (access & Opcodes.ACC_PUBLIC) != 0 && (access & Opcodes.ACC_STATIC) == 0;
            return isPublic && !name.equals(CONSTRUCTOR) && !callsAnOverridable(name, type)
                    ? new PublicMethod(owner, name, type, method)
                    : method;
        }

        /** A constructor with a number, as a later version may have, would need other code. */
        private static boolean takesObjects(String type) {
            return Stream.of(Type.getArgumentTypes(type)).allMatch(parameter -> parameter.getSort() == Type.OBJECT);
        }

        /** Such a method calls another one, which a subclass or an agent may have changed. */
        private static boolean callsAnOverridable(String name, String type) {
            int parameters = Type.getArgumentTypes(type).length;
            return (name.equals("send") && parameters == 1) || (name.equals("close") && parameters == 0);
        }

        @Override
        public void visitEnd() {
            int access = Opcodes.ACC_PRIVATE | Opcodes.ACC_FINAL | Opcodes.ACC_TRANSIENT | Opcodes.ACC_SYNTHETIC;
            super.visitField(access, FIELD, "L" + PRODUCER + ";", null, null).visitEnd();
            super.visitEnd();
        }
    }

    /** A method that gets more code; knows how to say "as before" after it. */
    private abstract static class Extended extends MethodVisitor {
        final String owner;
        final Type[] parameters;
        private final Label asBefore = new Label();

        Extended(String owner, String type, MethodVisitor next) {
            super(Opcodes.ASM9, next);
            this.owner = owner;
            this.parameters = Type.getArgumentTypes(type);
        }

        void beginIfMillrace() {
            loadMillrace();
            super.visitJumpInsn(Opcodes.IFNULL, asBefore);
        }

        void loadMillrace() {
            super.visitVarInsn(Opcodes.ALOAD, 0);
            super.visitFieldInsn(Opcodes.GETFIELD, owner, FIELD, "L" + PRODUCER + ";");
        }

        /** The verifier wants a frame where the jump goes. */
        void endIfMillrace() {
            super.visitLabel(asBefore);
            Object[] locals = new Object[1 + parameters.length];
            locals[0] = owner;
            for (int i = 0; i < parameters.length; i++) {
                locals[1 + i] = verificationType(parameters[i]);
            }
            super.visitFrame(Opcodes.F_NEW, locals.length, locals, 0, new Object[0]);
            super.visitInsn(Opcodes.NOP); // what follows may begin with a frame, which cannot be at the same place
        }

        private static Object verificationType(Type type) {
            return switch (type.getSort()) {
                case Type.OBJECT, Type.ARRAY -> type.getInternalName();
                case Type.LONG -> Opcodes.LONG;
                case Type.DOUBLE -> Opcodes.DOUBLE;
                case Type.FLOAT -> Opcodes.FLOAT;
                default -> Opcodes.INTEGER;
            };
        }
    }

    private static final class PublicMethod extends Extended {
        private final String name;
        private final String type;

        PublicMethod(String owner, String name, String type, MethodVisitor next) {
            super(owner, type, next);
            this.name = name;
            this.type = type;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            beginIfMillrace();
            loadMillrace();
            int local = 1;
            for (Type parameter : parameters) {
                super.visitVarInsn(parameter.getOpcode(Opcodes.ILOAD), local);
                local += parameter.getSize();
            }
            super.visitMethodInsn(Opcodes.INVOKEINTERFACE, PRODUCER, name, type, true);
            super.visitInsn(Type.getReturnType(type).getOpcode(Opcodes.IRETURN));
            endIfMillrace();
        }
    }

    private static final class MainConstructor extends Extended {
        private final Map<String, String> fields;
        private boolean isExtended;

        MainConstructor(String owner, String type, Map<String, String> fields, MethodVisitor next) {
            super(owner, type, next);
            this.fields = fields;
        }

        @Override
        public void visitMethodInsn(int opcode, String calledOwner, String name, String type, boolean isInterface) {
            super.visitMethodInsn(opcode, calledOwner, name, type, isInterface);
            boolean isSuper = name.equals(CONSTRUCTOR) && calledOwner.equals(OBJECT);
            if (isSuper && !isExtended) { // the first one: before it, "this" cannot be used
                isExtended = true;
                askSwitch();
                beginIfMillrace();
                fillFieldsThatOtherAgentsRead();
                super.visitInsn(Opcodes.RETURN);
                endIfMillrace();
            }
        }

        private void askSwitch() {
            super.visitVarInsn(Opcodes.ALOAD, 0);
            super.visitIntInsn(Opcodes.BIPUSH, 1 + parameters.length);
            super.visitTypeInsn(Opcodes.ANEWARRAY, OBJECT);
            for (int i = 0; i <= parameters.length; i++) {
                super.visitInsn(Opcodes.DUP);
                super.visitIntInsn(Opcodes.BIPUSH, i);
                super.visitVarInsn(Opcodes.ALOAD, i);
                super.visitInsn(Opcodes.AASTORE);
            }
            super.visitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    SWITCH.replace('.', '/'),
                    "millraceOrNull",
                    "([L" + OBJECT + ";)L" + PRODUCER + ";",
                    false);
            super.visitFieldInsn(Opcodes.PUTFIELD, owner, FIELD, "L" + PRODUCER + ";");
        }

        /** OpenTelemetry's agent reads these three in {@code send}, and makes no span if the second is null. */
        private void fillFieldsThatOtherAgentsRead() {
            if (isField("clientId", "java/lang/String")) {
                super.visitVarInsn(Opcodes.ALOAD, 0);
                super.visitVarInsn(Opcodes.ALOAD, 1);
                super.visitLdcInsn("client.id");
                super.visitMethodInsn(
                        Opcodes.INVOKEVIRTUAL, CONFIG, "getString", "(Ljava/lang/String;)Ljava/lang/String;", false);
                super.visitFieldInsn(Opcodes.PUTFIELD, owner, "clientId", fields.get("clientId"));
            }
            if (isField("apiVersions", API_VERSIONS)) {
                super.visitVarInsn(Opcodes.ALOAD, 0);
                super.visitTypeInsn(Opcodes.NEW, API_VERSIONS);
                super.visitInsn(Opcodes.DUP);
                super.visitMethodInsn(Opcodes.INVOKESPECIAL, API_VERSIONS, CONSTRUCTOR, "()V", false);
                super.visitFieldInsn(Opcodes.PUTFIELD, owner, "apiVersions", fields.get("apiVersions"));
            }
            if (isField("producerConfig", CONFIG)) {
                super.visitVarInsn(Opcodes.ALOAD, 0);
                super.visitVarInsn(Opcodes.ALOAD, 1);
                super.visitFieldInsn(Opcodes.PUTFIELD, owner, "producerConfig", fields.get("producerConfig"));
            }
        }

        private boolean isField(String name, String type) {
            return ("L" + type + ";").equals(fields.get(name));
        }
    }
}
