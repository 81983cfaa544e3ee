package dev.millrace.client.io;

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

    /** What the method does if a condition holds, it does always; that is a {@code boolean}, or that two numbers are equal. */
    static Weakening always(String owner, String method) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitJumpInsn(int opcode, Label label) {
                if (opcode != Opcodes.IFEQ && opcode != Opcodes.IF_ICMPNE) {
                    super.visitJumpInsn(opcode, label);
                    return;
                }
                self.hits++;
                super.visitInsn(opcode == Opcodes.IFEQ ? Opcodes.POP : Opcodes.POP2); // not past what is done then
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
