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
    private static final String TESTKIT = "dev.millrace.testkit..";

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(MIRROR);

    @Test
    void shouldKeepTheMirrorFreeOfItsCommandLineAndOfTheDemo() {
        noClasses()
                .that()
                .resideInAPackage(MIRROR)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(CLI, DEMO, "picocli..")
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
}
