package dev.millrace.client.io;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** The client and its tests once more, with a few methods weakened. All other classes are the same as outside. */
final class WeakenedClasses extends ClassLoader {
    private static final String OURS = "dev.millrace.client.";

    private final List<Weakening> weakenings;

    WeakenedClasses(List<Weakening> weakenings) {
        super(WeakenedClasses.class.getClassLoader());
        this.weakenings = weakenings;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = in.readAllBytes();
            for (Weakening weakening : weakenings) {
                if (name.equals(OURS + weakening.owner)) {
                    bytes = weaken(bytes, weakening);
                }
            }
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static byte[] weaken(byte[] bytes, Weakening weakening) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        new ClassReader(bytes)
                .accept(
                        new ClassVisitor(Opcodes.ASM9, writer) {
                            @Override
                            public MethodVisitor visitMethod(
                                    int access, String name, String descriptor, String signature, String[] exceptions) {
                                MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
                                return weakening.isOf(name) ? weakening.of(next) : next;
                            }
                        },
                        0);
        return writer.toByteArray();
    }
}
