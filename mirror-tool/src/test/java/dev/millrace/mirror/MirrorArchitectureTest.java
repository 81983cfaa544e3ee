package dev.millrace.mirror;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** What each package may use. */
class MirrorArchitectureTest {
    private static final String MIRROR = "dev.millrace.mirror";
    private static final String CLI = MIRROR + ".cli";
    private static final String DEMO = MIRROR + ".demo";
    private static final String FETCH = MIRROR + ".fetch";
    private static final String KAFKA = MIRROR + ".kafka";
    private static final String HTTP = MIRROR + ".http";
    private static final String VERIFY = MIRROR + ".verify";
    private static final String TESTKIT = "dev.millrace.testkit..";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(MIRROR);

    @Test
    void shouldKeepTheMirrorFreeOfItsCommandLineAndOfTheDemo() {
        noClasses()
                .that()
                .resideInAnyPackage(MIRROR, VERIFY)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(CLI, DEMO, HTTP, "picocli..")
                .check(CLASSES);
    }

    @Test
    void shouldShowOnlyWhatTheMirrorTells() {
        noClasses()
                .that()
                .resideInAPackage(HTTP)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(CLI, DEMO, FETCH, KAFKA, MIRROR + ".pass", "org.apache.kafka..")
                .check(CLASSES);
    }

    @Test
    void shouldNameTheDemoInTheListOfCommandsOnly() {
        noClasses()
                .that()
                .resideInAPackage(CLI)
                .and()
                .doNotHaveSimpleName("Main")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(DEMO)
                .check(CLASSES);
    }

    @Test
    void shouldNeedTheTestKitForTheDemoOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage(DEMO)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(TESTKIT)
                .check(CLASSES);
    }

    @Test
    void shouldNameKafkasInternalsInOnePackageOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage(KAFKA)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.millrace.kafka..")
                .check(CLASSES);
    }

    @Test
    void shouldKeepTheFetcherFreeOfTheNetworkAndOfTheMirror() {
        noClasses()
                .that()
                .resideInAPackage(FETCH)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(KAFKA, MIRROR, CLI, DEMO)
                .check(CLASSES);
    }
}
