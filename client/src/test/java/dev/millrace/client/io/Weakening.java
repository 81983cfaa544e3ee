package dev.millrace.client.io;

import dev.millrace.client.accumulator.Evidence;
import java.util.List;
import java.util.function.BiFunction;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * One change to the bytecode of one method: a call, a field or a test in it means something else. It is named as in the
 * source, so that a twin whose code has changed is noticed: it finds nothing to weaken.
 */
final class Weakening {
    private static final int API = Opcodes.ASM9;

    /** Its class, below {@code dev.millrace.client}. */
    final String owner;

    final String method;
    private final BiFunction<MethodVisitor, Weakening, MethodVisitor> change;
    private int hits;

    private Weakening(String owner, String method, BiFunction<MethodVisitor, Weakening, MethodVisitor> change) {
        this.owner = owner;
        this.method = method;
        this.change = change;
    }

    /** Whether the method is this one, or a lambda in it. */
    boolean isOf(String name) {
        return name.equals(method) || name.startsWith("lambda$" + method + "$");
    }

    MethodVisitor of(MethodVisitor next) {
        return change.apply(next, this);
    }

    /** How many instructions were changed. */
    int hits() {
        return hits;
    }

    /** The call is not made; if it returns an {@code int} or {@code boolean}, that is {@code result}. */
    static Weakening call(String owner, String method, String called, int result) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitMethodInsn(int opcode, String type, String name, String descriptor, boolean isInterface) {
                if (!name.equals(called)) {
                    super.visitMethodInsn(opcode, type, name, descriptor, isInterface);
                    return;
                }
                self.hits++;
                Type[] arguments = Type.getArgumentTypes(descriptor);
                for (int i = arguments.length - 1; i >= 0; i--) {
                    super.visitInsn(arguments[i].getSize() == 2 ? Opcodes.POP2 : Opcodes.POP);
                }
                if (opcode != Opcodes.INVOKESTATIC) {
                    super.visitInsn(Opcodes.POP);
                }
                pushResult(this, Type.getReturnType(descriptor), result);
            }
        });
    }

    private static void pushResult(MethodVisitor out, Type type, int result) {
        switch (type.getSort()) {
            case Type.VOID -> {}
            case Type.LONG -> out.visitLdcInsn((long) result);
            case Type.INT, Type.BOOLEAN -> out.visitLdcInsn(result);
            default -> out.visitInsn(Opcodes.ACONST_NULL);
        }
    }

    /** As {@link #call}, without a result. */
    static Weakening withoutCall(String owner, String method, String called) {
        return call(owner, method, called, 0);
    }

    /** Another method of the same class, with the same parameters, is called instead. */
    static Weakening otherCall(String owner, String method, String called, String instead) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitMethodInsn(int opcode, String type, String name, String descriptor, boolean isInterface) {
                self.hits += name.equals(called) ? 1 : 0;
                super.visitMethodInsn(opcode, type, name.equals(called) ? instead : name, descriptor, isInterface);
            }
        });
    }

    /** The field seems to be 0, false or null. */
    static Weakening field(String owner, String method, String field) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitFieldInsn(int opcode, String type, String name, String descriptor) {
                if (opcode != Opcodes.GETFIELD || !name.equals(field)) {
                    super.visitFieldInsn(opcode, type, name, descriptor);
                    return;
                }
                self.hits++;
                super.visitInsn(Opcodes.POP);
                pushResult(this, Type.getType(descriptor), 0);
            }
        });
    }

    /** The field keeps its value; it must not be of two words. */
    static Weakening withoutWrite(String owner, String method, String field) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitFieldInsn(int opcode, String type, String name, String descriptor) {
                if (opcode != Opcodes.PUTFIELD || !name.equals(field)) {
                    super.visitFieldInsn(opcode, type, name, descriptor);
                    return;
                }
                self.hits++;
                super.visitInsn(Opcodes.POP2);
            }
        });
    }

    /** {@code instanceof} is false for this type. */
    static Weakening notInstance(String owner, String method, Class<?> tested) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitTypeInsn(int opcode, String type) {
                if (opcode != Opcodes.INSTANCEOF || !type.equals(Type.getInternalName(tested))) {
                    super.visitTypeInsn(opcode, type);
                    return;
                }
                self.hits++;
                super.visitInsn(Opcodes.POP);
                super.visitInsn(Opcodes.ICONST_0);
            }
        });
    }

    /** One cell of {@link AnswerTable} has another action. */
    static Weakening cell(
            AnswerTable.Refusal refusal, Evidence evidence, AnswerTable.Position position, AnswerTable.Action instead) {
        List<Enum<?>> row = List.of(refusal, evidence, position);
        return new Weakening("io.AnswerTable", "actionFor", (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitCode() {
                super.visitCode();
                Label asWritten = new Label();
                for (int argument = 0; argument < row.size(); argument++) {
                    super.visitVarInsn(Opcodes.ALOAD, argument);
                    get(row.get(argument));
                    super.visitJumpInsn(Opcodes.IF_ACMPNE, asWritten);
                }
                get(instead);
                super.visitInsn(Opcodes.ARETURN);
                super.visitLabel(asWritten);
                super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
                self.hits++;
            }

            private void get(Enum<?> constant) {
                String type = Type.getInternalName(constant.getDeclaringClass());
                super.visitFieldInsn(Opcodes.GETSTATIC, type, constant.name(), "L" + type + ";");
            }
        });
    }

    /** A constant number is another one. */
    static Weakening number(String owner, String method, int written, int instead) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitLdcInsn(Object value) {
                boolean isIt = value.equals(written);
                self.hits += isIt ? 1 : 0;
                super.visitLdcInsn(isIt ? Integer.valueOf(instead) : value);
            }
        });
    }
}
