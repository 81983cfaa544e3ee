package dev.millrace.mirror.pass;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

class PassArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.mirror");

    @Test
    void shouldNameThePrivateCopyOfKafkasInternalsInOnePackageOnly() {
        ArchRule rule = noClasses()
                .that()
                .resideOutsideOfPackage("dev.millrace.mirror.kafka")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.millrace.kafka..");

        rule.check(CLASSES);
        assertThat(noClasses()
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage("dev.millrace.kafka..")
                        .evaluate(CLASSES)
                        .hasViolation())
                .as("that package is seen")
                .isTrue();
    }

    @Test
    void shouldDependOnThatPackageOnly() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.mirror.pass")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "dev.millrace.mirror.pass",
                        "dev.millrace.mirror.kafka",
                        "org.apache.kafka.clients.consumer",
                        "org.apache.kafka.common.errors",
                        "java..")
                .check(CLASSES);
    }
}
