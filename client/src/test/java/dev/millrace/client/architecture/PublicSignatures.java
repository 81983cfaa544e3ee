package dev.millrace.client.architecture;

import static java.util.stream.Collectors.toCollection;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * What the signatures of public classes name: superclasses, interfaces, type parameters and their bounds, and for each
 * public or protected field, constructor and method its types, type parameters and exceptions.
 */
final class PublicSignatures {
    private PublicSignatures() {}

    /** Each type that {@code isForbidden} and that a public class names, as {@code where names what}. */
    static Set<String> naming(Predicate<JavaClass> isForbidden, Iterable<JavaClass> classes) {
        Set<String> found = new TreeSet<>();
        for (JavaClass type : classes) {
            if (isVisible(type)) {
                add(found, type.getSimpleName(), ofClass(type), isForbidden);
                members(type)
                        .forEach(member -> add(
                                found, type.getSimpleName() + "." + member.getName(), ofMember(member), isForbidden));
            }
        }
        return found;
    }

    /** Public, or protected in a visible class. */
    private static boolean isVisible(JavaClass type) {
        return isVisible(type.getModifiers())
                && type.getEnclosingClass().map(PublicSignatures::isVisible).orElse(true);
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static Stream<JavaMember> members(JavaClass type) {
        return type.getMembers().stream()
                .filter(member -> isVisible(member.getModifiers()))
                .filter(member -> !member.getModifiers().contains(JavaModifier.SYNTHETIC));
    }

    private static Stream<JavaType> ofClass(JavaClass type) {
        return Stream.<Stream<? extends JavaType>>of(
                        type.getSuperclass().stream(), type.getInterfaces().stream(), type.getTypeParameters().stream())
                .flatMap(each -> each);
    }

    private static Stream<JavaType> ofMember(JavaMember member) {
        if (member instanceof JavaField field) {
            return Stream.of(field.getType());
        }
        JavaCodeUnit unit = (JavaCodeUnit) member;
        return Stream.<Stream<? extends JavaType>>of(
                        Stream.of(unit.getReturnType()),
                        unit.getParameterTypes().stream(),
                        unit.getTypeParameters().stream(),
                        unit.getExceptionTypes().stream())
                .flatMap(each -> each);
    }

    private static void add(Set<String> found, String where, Stream<JavaType> types, Predicate<JavaClass> isForbidden) {
        found.addAll(types.flatMap(type -> type.getAllInvolvedRawTypes().stream())
                .filter(isForbidden)
                .map(type -> where + " names " + type.getSimpleName())
                .collect(toCollection(TreeSet::new)));
    }
}
