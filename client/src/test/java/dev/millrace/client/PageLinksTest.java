package dev.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Holds the links between the pages to the files and headings that are there. */
class PageLinksTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Set<String> FOLDERS = Set.of(
            ".",
            "docs",
            "mirror-tool",
            "demo",
            "jmh",
            "profiles",
            "kafka-internals",
            "client",
            "spring-boot/sample",
            "testkit",
            "bom");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s#]*)(?:#([^)\\s]*))?\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");
    private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^```.*?^```");

    @Test
    void shouldLinkToWhatExists() throws IOException {
        List<Path> pages = new ArrayList<>();
        for (String folder : FOLDERS) {
            try (Stream<Path> files = Files.list(ROOT.resolve(folder).normalize())) {
                files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
            }
        }

        assertThat(pages).hasSizeGreaterThan(15);
        assertThat(pages).flatExtracting(PageLinksTest::brokenLinks).isEmpty();
    }

    @Test
    void shouldFindLinksToWhatDoesNotExist(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("other.md"), "# Other\n\n## What a `send` does: all\n");
        Path page = folder.resolve("page.md");
        Files.writeString(
                page,
                "## Here\n[a](#here) [b](#there) [c](other.md#what-a-send-does-all) [d](other.md#x) [e](gone.md)");

        assertThat(brokenLinks(page)).containsExactly("page.md: #there", "page.md: other.md#x", "page.md: gone.md#");
    }

    private static List<String> brokenLinks(Path page) {
        List<String> broken = new ArrayList<>();
        Matcher link = LINK.matcher(withoutCode(page));
        while (link.find()) {
            String file = link.group(1);
            String anchor = link.group(2);
            Path to = file.isEmpty() ? page : page.resolveSibling(file);
            boolean isElsewhere = file.startsWith("http");
            boolean isThere = isElsewhere
                    || (Files.exists(to) && (anchor == null || anchorsOf(to).contains(anchor)));
            if (!isThere) {
                broken.add(page.getFileName() + ": " + file + "#" + (anchor == null ? "" : anchor));
            }
        }
        return broken;
    }

    /** As GitHub makes them. */
    private static Set<String> anchorsOf(Path page) {
        return HEADING.matcher(withoutCode(page))
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    private static String withoutCode(Path page) {
        try {
            return CODE_BLOCK.matcher(Files.readString(page)).replaceAll("");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
