package dev.millrace.client.architecture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * A class with what it has and what it refers to. Names are internal ones, such as {@code java/lang/Object}.
 *
 * @param members access flags by name and descriptor, such as {@code size()I}
 * @param types what it names anywhere in its code, arrays as what they are arrays of
 * @param references the methods and fields that its code uses
 * @param strings its string constants
 */
record LinkedClass(
        String name,
        int access,
        List<String> supertypes,
        Map<String, Integer> members,
        Set<String> types,
        Set<Reference> references,
        Set<String> strings) {

    /** A method or field of {@code owner} or of its supertypes. */
    record Reference(String owner, String member) implements Comparable<Reference> {
        @Override
        public int compareTo(Reference other) {
            int byOwner = owner.compareTo(other.owner);
            return byOwner != 0 ? byOwner : member.compareTo(other.member);
        }
    }

    static LinkedClass read(byte[] classFile) {
        Visitor visitor = new Visitor();
        new ClassReader(classFile).accept(visitor, ClassReader.SKIP_FRAMES | ClassReader.SKIP_DEBUG);
        return new LinkedClass(
                visitor.name,
                visitor.access,
                visitor.supertypes,
                visitor.members,
                visitor.types,
                visitor.references,
                visitor.strings);
    }

    boolean isInPackageOf(String other) {
        return packageOf(name).equals(packageOf(other));
    }

    /** Whether both are in the same outermost class, or one is. */
    boolean isNestedWith(String other) {
        return outermost(name).equals(outermost(other));
    }

    private static String outermost(String className) {
        int end = className.indexOf('$', className.lastIndexOf('/') + 2); // names may begin with it
        return end < 0 ? className : className.substring(0, end);
    }

    private static String packageOf(String className) {
        return className.substring(0, className.lastIndexOf('/') + 1);
    }

    private static final class Visitor extends ClassVisitor {
        private final List<String> supertypes = new ArrayList<>();
        private final Map<String, Integer> members = new HashMap<>();
        private final Set<String> types = new TreeSet<>();
        private final Set<Reference> references = new TreeSet<>();
        private final Set<String> strings = new TreeSet<>();
        private String name;
        private int access;

        Visitor() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            this.name = name;
            this.access = access;
            if (parent != null) {
                supertypes.add(parent);
            }
            supertypes.addAll(List.of(interfaces));
            types.addAll(supertypes);
        }

        @Override
        public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
            members.put(name + descriptor, access);
            add(Type.getType(descriptor));
            addConstant(value);
            return null;
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            members.put(name + descriptor, access);
            add(Type.getMethodType(descriptor));
            return new CodeVisitor();
        }

        private void add(Type type) {
            if (type.getSort() == Type.METHOD) {
                add(type.getReturnType());
                for (Type argument : type.getArgumentTypes()) {
                    add(argument);
                }
            } else if (type.getSort() == Type.ARRAY) {
                add(type.getElementType());
            } else if (type.getSort() == Type.OBJECT) {
                types.add(type.getInternalName());
            }
        }

        private void add(String owner, String member, Type type) {
            add(type);
            Type ownerType = Type.getObjectType(owner);
            add(ownerType);
            if (ownerType.getSort() == Type.OBJECT) { // arrays have the methods of Object
                references.add(new Reference(owner, member + type.getDescriptor()));
            }
        }

        private void addConstant(Object constant) {
            if (constant instanceof String string) {
                strings.add(string);
            } else if (constant instanceof Type type) {
                add(type);
            } else if (constant instanceof Handle handle) {
                add(handle.getOwner(), handle.getName(), Type.getType(handle.getDesc()));
            } else if (constant instanceof ConstantDynamic dynamic) {
                add(Type.getType(dynamic.getDescriptor()));
                addConstant(dynamic.getBootstrapMethod());
            }
        }

        /** Adds what the code of a method refers to. */
        private final class CodeVisitor extends MethodVisitor {
            CodeVisitor() {
                super(Opcodes.ASM9);
            }

            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
                add(owner, name, Type.getMethodType(descriptor));
            }

            @Override
            public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
                add(owner, name, Type.getType(descriptor));
            }

            @Override
            public void visitTypeInsn(int opcode, String type) {
                add(Type.getObjectType(type));
            }

            @Override
            public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
                add(Type.getType(descriptor));
            }

            @Override
            public void visitLdcInsn(Object value) {
                addConstant(value);
            }

            @Override
            public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
                if (type != null) {
                    types.add(type);
                }
            }

            @Override
            public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
                add(Type.getMethodType(descriptor));
                addConstant(bootstrap);
                for (Object argument : arguments) {
                    addConstant(argument);
                }
            }
        }
    }
}
