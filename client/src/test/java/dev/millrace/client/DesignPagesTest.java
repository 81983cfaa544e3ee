package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds both DESIGN.md to the sources that they speak of. */
class DesignPagesTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final String CLIENT = "DESIGN.md";
    private static final String MIRROR = "mirror-tool/DESIGN.md";
    private static final int FILES_OF_A_WALK = 5;

    /** Classes of Kafka whose members the pages name. */
    private static final Set<String> FOREIGN = Set.of("Header", "NetworkClient", "RemoteClusterUtils");

    private static final Pattern QUOTED = Pattern.compile("`([^`\n]+)`");
    private static final Pattern MEMBER = Pattern.compile("([A-Z]\\w*(?:\\.[A-Z]\\w*)*)\\.([a-z]\\w*)");
    private static final Pattern CLASS = Pattern.compile("[A-Z][a-z]\\w*");
    private static final Pattern TEST = Pattern.compile("\\w*[a-z](?:Test|IT)");
    private static final Pattern STEP = Pattern.compile("(?m)^\\d+\\. (?:The constructor of )?`([A-Z]\\w*)");

    /** By class, a nested one with the names of those around it, such as {@code TopicRegistry.Use}. */
    private static final Map<String, Members> CLASSES = new TreeMap<>();

    private record Members(Set<String> fields, Set<String> methods) {}

    @BeforeAll
    static void parseSources() throws IOException {
        List<Path> sources =
                javaFiles("client/src/main", "mirror-tool/src/main").toList();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, files, null, List.of("-proc:none"), null, files.getJavaFileObjectsFromPaths(sources));
            for (CompilationUnitTree file : task.parse()) {
                new MemberScanner().scan(file, "");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {CLIENT, MIRROR})
    void shouldNameFieldsThatExistInTheTableOfOrderedWords(String page) {
        String table = section(read(page), "## Ordered words", "## ");

        assertThat(wordsIn(table)).hasSizeGreaterThan(5);
        assertThat(unknownFields(table)).isEmpty();
    }

    @Test
    void shouldFindAWrongNameInTheTableOfOrderedWords() {
        String table = section(read(CLIENT), "## Ordered words", "## ");

        assertThat(unknownFields(table.replace("`OpenBatch.tail`", "`OpenBatch.tale`")))
                .containsExactly("OpenBatch.tale");
        assertThat(unknownFields(table.replace("`OpenBatch.next`", "`OpenBatch.seal`"))) // which is a method
                .containsExactly("OpenBatch.seal");
        assertThat(unknownFields(table.replace("`, `maxRecordSize`", "`, `minRecordSize`")))
                .containsExactly("OpenBatch.minRecordSize");
        assertThat(unknownFields(table.replace("`TopicRegistry.Use.", "`TopicRegistry.")))
                .containsExactly("TopicRegistry.marked");
    }

    @ParameterizedTest
    @ValueSource(strings = {CLIENT, MIRROR})
    void shouldNameMembersThatExist(String page) {
        assertThat(unknownMembers(read(page))).isEmpty();
    }

    @Test
    void shouldFindAWrongMember() {
        assertThat(unknownMembers("`PartitionState.splitTooLarge`, then `PartitionState.splitTooSmall`"))
                .containsExactly("PartitionState.splitTooSmall");
    }

    @ParameterizedTest
    @ValueSource(strings = {CLIENT, MIRROR})
    void shouldNameClassesThatExistInTheFileMap(String page) {
        List<String> named = quotedIn(section(read(page), "## File map", "## Walks")).stream()
                .filter(name ->
                        CLASS.matcher(name).matches() && !TEST.matcher(name).matches())
                .toList();

        assertThat(named).hasSizeGreaterThan(20);
        assertThat(named).filteredOn(name -> !CLASSES.containsKey(name)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {CLIENT, MIRROR})
    void shouldNameTestsThatExist(String page) throws IOException {
        Set<String> tests = javaFiles("client/src/test", "mirror-tool/src/test")
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .collect(Collectors.toSet());

        assertThat(quotedIn(read(page)))
                .filteredOn(name -> TEST.matcher(name).matches() && !tests.contains(name))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {CLIENT, MIRROR})
    void shouldOpenFewFilesInAWalkAndNoneTwice(String page) {
        String[] walks = section(read(page), "## Walks", "## ").split("### Walk: ", -1);

        assertThat(walks).hasSizeGreaterThan(3);
        for (int i = 1; i < walks.length; i++) {
            String title = walks[i].substring(0, walks[i].indexOf('\n'));
            List<String> files = new ArrayList<>();
            Matcher steps = STEP.matcher(walks[i]);
            while (steps.find()) {
                files.add(steps.group(1));
            }
            assertThat(files).as(title).hasSizeBetween(3, FILES_OF_A_WALK).doesNotHaveDuplicates();
            assertThat(files)
                    .as(title)
                    .filteredOn(name -> !CLASSES.containsKey(name))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({CLIENT + ", 5000", MIRROR + ", 4000"})
    void shouldStayShort(String page, int words) {
        assertThat(read(page).strip().split("\\s+", -1).length).isLessThanOrEqualTo(words);
    }

    /** The fields in the first column; those without a class are of the class before them. */
    private static List<String> wordsIn(String table) {
        List<String> words = new ArrayList<>();
        for (String line : table.split("\n", -1)) {
            String[] cells = line.split("\\|", -1);
            String owner = "";
            for (String name : cells.length == 6 ? quotedIn(cells[1]) : List.<String>of()) {
                Matcher member = MEMBER.matcher(name);
                owner = member.matches() ? member.group(1) : owner;
                words.add(owner + "." + (member.matches() ? member.group(2) : name));
            }
        }
        return words;
    }

    private static List<String> unknownFields(String table) {
        return wordsIn(table).stream()
                .filter(word -> !membersOf(word).fields().contains(nameOf(word)))
                .toList();
    }

    private static List<String> unknownMembers(String page) {
        return quotedIn(page).stream()
                .filter(name -> MEMBER.matcher(name).matches())
                .filter(name -> !FOREIGN.contains(classOf(name)))
                .filter(name -> !membersOf(name).fields().contains(nameOf(name))
                        && !membersOf(name).methods().contains(nameOf(name)))
                .toList();
    }

    private static Members membersOf(String word) {
        return CLASSES.getOrDefault(classOf(word), new Members(Set.of(), Set.of()));
    }

    private static String classOf(String word) {
        return word.substring(0, word.lastIndexOf('.'));
    }

    private static String nameOf(String word) {
        return word.substring(word.lastIndexOf('.') + 1);
    }

    private static List<String> quotedIn(String text) {
        return QUOTED.matcher(text).results().map(found -> found.group(1)).toList();
    }

    /** From the one heading to the other, without both. */
    private static String section(String page, String from, String to) {
        assertThat(page).contains(from + "\n");
        String rest = page.substring(page.indexOf(from + "\n") + from.length());
        int end = rest.indexOf("\n" + to);
        return end < 0 ? rest : rest.substring(0, end);
    }

    private static Stream<Path> javaFiles(String... folders) throws IOException {
        List<Path> found = new ArrayList<>();
        for (String folder : folders) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(found::add);
            }
        }
        return found.stream();
    }

    private static String read(String page) {
        try {
            return Files.readString(ROOT.resolve(page));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Classes of one name in several packages count as one. */
    private static final class MemberScanner extends TreeScanner<Void, String> {
        @Override
        public Void visitClass(ClassTree type, String around) {
            String name = around.isEmpty() ? type.getSimpleName().toString() : around + "." + type.getSimpleName();
            Members members = CLASSES.computeIfAbsent(name, unused -> new Members(new TreeSet<>(), new TreeSet<>()));
            type.getMembers().forEach(member -> {
                if (member instanceof VariableTree field) {
                    members.fields().add(field.getName().toString());
                } else if (member instanceof MethodTree method) {
                    members.methods().add(method.getName().toString());
                }
            });
            return super.visitClass(type, name);
        }
    }
}
