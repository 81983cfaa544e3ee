package dev.millrace.mirror.pass;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class PassArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.mirror");

    @Test
    void shouldDependOnRawBatchesAndTheKafkaPackageOnly() {
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.mirror.pass")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        "dev.millrace.mirror.pass",
                        "dev.millrace.mirror.kafka",
                        "dev.millrace.client.raw",
                        "org.apache.kafka.clients.consumer",
                        "org.apache.kafka.clients.producer",
                        "org.apache.kafka.common.header",
                        "org.apache.kafka.common.errors",
                        "java..")
                .check(CLASSES);
    }
}
