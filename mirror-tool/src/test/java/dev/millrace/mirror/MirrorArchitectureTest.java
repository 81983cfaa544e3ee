package dev.millrace.mirror;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What each room of the mirror may use. */
class MirrorArchitectureTest {
    private static final String MIRROR = "dev.millrace.mirror";
    private static final String KAFKA_INTERNALS = "dev.millrace.kafka..";
    /** Each may use those after it, and none before it. */
    private static final List<String> ROOMS = Stream.of(
                    "cli",
                    "cutover",
                    "run",
                    "member",
                    "copy",
                    "refused",
                    "groups",
                    "mm2",
                    "resume",
                    "verify",
                    "http",
                    "topics",
                    "progress",
                    "status",
                    "cluster",
                    "config",
                    "pass",
                    "kafka",
                    "fetch",
                    "control",
                    "offsets",
                    "text")
            .map(room -> MIRROR + "." + room)
            .toList();

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(MIRROR);

    @Test
    void shouldUseOnlyRoomsThatComeLater() {
        violations(ROOMS).forEach(rule -> rule.check(CLASSES));
    }

    /** Or the rule above could not fail. */
    @Test
    void shouldFindAnArrowBackWhereTwoRoomsChangePlaces() {
        List<String> swapped = new ArrayList<>(ROOMS);
        Collections.swap(swapped, ROOMS.indexOf(MIRROR + ".copy"), ROOMS.indexOf(MIRROR + ".member"));

        assertThat(violations(swapped)).anyMatch(rule -> rule.evaluate(CLASSES).hasViolation());
    }

    @Test
    void shouldHaveEachClassInOneOfTheRooms() {
        classes().should().resideInAnyPackage(ROOMS.toArray(String[]::new)).check(CLASSES);
    }

    /** For each room, that it uses none of those before it. */
    private static List<ArchRule> violations(List<String> rooms) {
        List<ArchRule> rules = new ArrayList<>();
        for (int room = 1; room < rooms.size(); room++) {
            rules.add(noClasses()
                    .that()
                    .resideInAPackage(rooms.get(room))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(rooms.subList(0, room).toArray(String[]::new)));
        }
        return rules;
    }

    @Test
    void shouldShowOverHttpOnlyWhatTheMirrorTells() {
        noClasses()
                .that()
                .resideInAPackage(MIRROR + ".http")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        MIRROR + ".progress",
                        MIRROR + ".topics",
                        MIRROR + ".pass",
                        MIRROR + ".kafka",
                        MIRROR + ".fetch",
                        "org.apache.kafka..")
                .check(CLASSES);
    }

    @Test
    void shouldFetchAndControlWithoutTheRestOfTheMirror() {
        for (String leaf : List.of(".fetch", ".control", ".offsets", ".text")) {
            noClasses()
                    .that()
                    .resideInAPackage(MIRROR + leaf)
                    .should()
                    .dependOnClassesThat(resideInAPackage(MIRROR + "..").and(not(resideInAPackage(MIRROR + leaf))))
                    .check(CLASSES);
        }
    }

    @Test
    void shouldParseTheCommandLineInOneRoomOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage(MIRROR + ".cli")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("picocli..")
                .check(CLASSES);
    }

    @Test
    void shouldNameKafkasInternalsInOneRoomOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage(MIRROR + ".kafka")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(KAFKA_INTERNALS)
                .check(CLASSES);
        assertThat(noClasses()
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage(KAFKA_INTERNALS)
                        .evaluate(CLASSES)
                        .hasViolation())
                .as("the room is seen")
                .isTrue();
    }

    /** A batch is opened or passed without a client of Kafka's. */
    @Test
    void shouldPassBatchesWithoutClients() {
        noClasses()
                .that()
                .resideInAPackage(MIRROR + ".pass")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages(
                        MIRROR + ".pass",
                        MIRROR + ".kafka",
                        "dev.millrace.client.raw",
                        "org.apache.kafka.clients.consumer",
                        "org.apache.kafka.clients.producer",
                        "org.apache.kafka.common.header",
                        "org.apache.kafka.common.errors",
                        "java..")
                .check(CLASSES);
    }
}
