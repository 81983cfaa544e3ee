package dev.millrace.testkit.twin;

import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * One change to the bytecode of one method: a call, a field or a test in it means something else. It is named as in the
 * source, so that a twin whose code has changed is noticed: it finds nothing to weaken.
 *
 * <p><b>Threads:</b> one.
 */
public final class Weakening {
    private static final int API = Opcodes.ASM9;

    private final String owner;
    private final String method;
    private final BiFunction<MethodVisitor, Weakening, MethodVisitor> change;
    private int hits;

    private Weakening(String owner, String method, BiFunction<MethodVisitor, Weakening, MethodVisitor> change) {
        this.owner = owner;
        this.method = method;
        this.change = change;
    }

    /**
     * A change of another kind than those below.
     *
     * @param change returns a visitor that passes on, to the one that it gets, the method's code as it is to be; calls
     *     {@link #hit} for each instruction that it changes
     */
    public static Weakening of(
            String owner, String method, BiFunction<MethodVisitor, Weakening, MethodVisitor> change) {
        return new Weakening(owner, method, change);
    }

    /** The name of the class, as whoever made this has named it. */
    public String owner() {
        return owner;
    }

    /** Returns the bytes of its class with the change. */
    public byte[] applyTo(byte[] classFile) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        new ClassReader(classFile)
                .accept(
                        new ClassVisitor(API, writer) {
                            @Override
                            public MethodVisitor visitMethod(
                                    int access, String name, String descriptor, String signature, String[] exceptions) {
                                MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
                                return isOf(name) ? change.apply(next, Weakening.this) : next;
                            }
                        },
                        0);
        return writer.toByteArray();
    }

    /** Whether the method is this one, or a lambda in it. */
    private boolean isOf(String name) {
        return name.equals(method) || name.startsWith("lambda$" + method + "$");
    }

    /** An instruction was changed. */
    public void hit() {
        hits++;
    }

    /** How many instructions were changed. */
    public int hits() {
        return hits;
    }

    /** Something else is done first. */
    public static Weakening before(String owner, String method, Consumer<MethodVisitor> code) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitCode() {
                self.hits++;
                super.visitCode();
                code.accept(this);
            }
        });
    }

    /** The call is not made; if it returns an {@code int} or {@code boolean}, that is {@code result}. */
    public static Weakening call(String owner, String method, String called, int result) {
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
    public static Weakening withoutCall(String owner, String method, String called) {
        return call(owner, method, called, 0);
    }

    /** Another method of the same class, with the same parameters, is called instead. */
    public static Weakening otherCall(String owner, String method, String called, String instead) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitMethodInsn(int opcode, String type, String name, String descriptor, boolean isInterface) {
                self.hits += name.equals(called) ? 1 : 0;
                super.visitMethodInsn(opcode, type, name.equals(called) ? instead : name, descriptor, isInterface);
            }
        });
    }

    /** The field seems to be 0, false or null. */
    public static Weakening field(String owner, String method, String field) {
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
    public static Weakening withoutWrite(String owner, String method, String field) {
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
    public static Weakening notInstance(String owner, String method, Class<?> tested) {
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

    /** A constant number is another one. */
    public static Weakening number(String owner, String method, int written, int instead) {
        return new Weakening(owner, method, (next, self) -> new MethodVisitor(API, next) {
            @Override
            public void visitLdcInsn(Object value) {
                boolean isIt = value.equals(written);
                self.hits += isIt ? 1 : 0;
                super.visitLdcInsn(isIt ? Integer.valueOf(instead) : value);
            }
        });
    }

    @Override
    public String toString() {
        return owner + "." + method;
    }
}
