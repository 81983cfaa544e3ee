package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the tables of docs/semantics.md to the tests that are there. */
class SemanticsTableTest {
    private static final Path ROOT = root();
    private static final String HEADING = "## Semantics and the tests that hold them";
    private static final int SEMANTICS = 23;

    /** Bugs of the stock client and of others that must not come back. */
    private static final List<String> BUGS = List.of(
            "KAFKA-19012",
            "CVE-2026-35554",
            "KAFKA-15591",
            "KAFKA-9312",
            "KAFKA-19479",
            "KAFKA-8350",
            "KAFKA-8202",
            "KAFKA-7501",
            "KAFKA-8325",
            "KAFKA-5700",
            "KAFKA-5340",
            "KAFKA-3197",
            "KAFKA-5494",
            "KAFKA-8483",
            "KAFKA-8484",
            "KAFKA-7693",
            "KAFKA-12152",
            "KAFKA-14034",
            "KAFKA-10888",
            "KAFKA-14020",
            "KAFKA-14303",
            "KAFKA-17632",
            "KAFKA-13834",
            "KAFKA-4235",
            "KAFKA-6635",
            "KAFKA-6897",
            "KAFKA-12841",
            "KAFKA-3648",
            "KAFKA-3651",
            "KAFKA-4741",
            "KAFKA-3122",
            "KAFKA-13782",
            "KAFKA-14417",
            "KAFKA-19397",
            "KAFKA-1642",
            "KAFKA-8904",
            "KAFKA-20917",
            "KAFKA-4228",
            "librdkafka 1.9.0");

    /** How the rows of faults begin. */
    private static final List<String> FAULTS = List.of(
            "Broker killed",
            "Connection reset",
            "Black hole",
            "KAFKA_STORAGE_ERROR",
            "MESSAGE_TOO_LARGE",
            "UNKNOWN_PRODUCER_ID",
            "Topic deleted",
            "Bad credentials",
            "Clock jump",
            "10,000 topics",
            "Mirror killed");

    private static final Pattern TEST = Pattern.compile("`(\\w+)\\.(should\\w+)`");

    /** An annotation that makes a method a test, others, comments even, and then its name. */
    private static final Pattern TEST_METHOD = Pattern.compile(
            "@(?:Parameterized|Repeated)?Test\\b[^{};]*?(?:\\{[^}]*}[^{};]*?)*?\\bvoid\\s+(should\\w+)\\(");

    private final List<Row> rows = rows();

    @Test
    void shouldHaveATestForEverySemantics() {
        Set<Integer> numbers = new TreeSet<>();
        rows.stream()
                .filter(row -> row.what.matches("\\d+ .*"))
                .forEach(row -> numbers.add(Integer.valueOf(row.what.split(" ", -1)[0])));

        assertThat(numbers)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, SEMANTICS).boxed().toList());
    }

    @Test
    void shouldHaveATestForEveryBug() {
        String all = rows.stream().map(Row::what).collect(Collectors.joining("\n"));

        assertThat(BUGS).allSatisfy(bug -> assertThat(all).containsPattern(Pattern.quote(bug) + "\\b"));
    }

    @Test
    void shouldHaveATestForEveryFault() {
        assertThat(FAULTS).allSatisfy(fault -> assertThat(rows).anyMatch(row -> row.what.startsWith(fault)));
    }

    @Test
    void shouldNameTestsThatExist() {
        Map<String, Set<String>> methods = testMethods();

        assertThat(rows).allSatisfy(row -> {
            assertThat(row.tests).as("tests of \"%s\"", row.what).isNotEmpty();
            for (String test : row.tests) {
                String[] parts = test.split("\\.", -1);
                assertThat(methods.getOrDefault(parts[0], Set.of()))
                        .as("tests of class %s, named for \"%s\"", parts[0], row.what)
                        .contains(parts[1]);
            }
        });
    }

    /** One line of the table. */
    private record Row(String what, List<String> tests) {}

    private static List<Row> rows() {
        String page = read(ROOT.resolve("docs/semantics.md"));
        assertThat(page).contains(HEADING);
        String section =
                page.substring(page.indexOf(HEADING) + HEADING.length()).split("\n## ", -1)[0];
        List<Row> rows = new ArrayList<>();
        for (String line : section.split("\n", -1)) {
            String[] cells = line.split("\\|", -1);
            if (cells.length == 4
                    && !cells[2].equals("---")
                    && !cells[2].strip().equals("held by")) {
                List<String> tests = new ArrayList<>();
                Matcher matcher = TEST.matcher(cells[2]);
                while (matcher.find()) {
                    tests.add(matcher.group(1) + "." + matcher.group(2));
                }
                rows.add(new Row(cells[1].strip(), tests));
            }
        }
        return rows;
    }

    /** By simple name of their class. */
    private static Map<String, Set<String>> testMethods() {
        Map<String, Set<String>> methods = new TreeMap<>();
        for (String module : Arrays.asList("client", "mirror-tool", "testkit")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(file -> {
                    String name = file.getFileName().toString().replace(".java", "");
                    Matcher matcher = TEST_METHOD.matcher(read(file));
                    while (matcher.find()) {
                        methods.computeIfAbsent(name, c -> new TreeSet<>()).add(matcher.group(1));
                    }
                });
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return methods;
    }

    /** Where the pages are: the module's parent folder, or this one if tests run from there. */
    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("DESIGN.md")) ? here : here.getParent();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
