package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.Statuses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The dashboard asks for nothing that {@code /metrics} does not have. */
class GrafanaDashboardTest {
    private static final Path DASHBOARD = Path.of("helm", "millrace-mirror", "dashboard.json");
    private static final Pattern METRIC = Pattern.compile("millrace_mirror_\\w+");
    private static final Pattern LABELS = Pattern.compile("by \\(([^)]*)\\)|\\{\\{(\\w+)}}");
    /** Prometheus adds them to all that it scrapes. */
    private static final Set<String> OF_PROMETHEUS = Set.of("instance", "job");

    private final String metrics = MirrorMetrics.format(Statuses.running(Statuses.partitions("a", 1)));

    @Test
    void shouldNameOnlyMetricsThatThereAre() throws IOException {
        Set<String> known = metrics.lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.replaceAll("[{ ].*", ""))
                .collect(Collectors.toSet());

        List<String> expressions = values(dashboard(), Set.of("expr", "query"));

        assertThat(expressions).hasSizeGreaterThan(20);
        assertThat(expressions.stream()
                        .flatMap(text -> METRIC.matcher(text).results().map(MatchResult::group)))
                .isNotEmpty()
                .isSubsetOf(known);
    }

    @Test
    void shouldNameOnlyLabelsThatThereAre() throws IOException {
        Set<String> known = Pattern.compile("(\\w+)=\"")
                .matcher(metrics)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        known.addAll(OF_PROMETHEUS);

        assertThat(values(dashboard(), Set.of("expr", "legendFormat")).stream()
                        .flatMap(text -> LABELS.matcher(text).results())
                        .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                        .flatMap(labels -> Pattern.compile(", *").splitAsStream(labels)))
                .isNotEmpty()
                .isSubsetOf(known);
    }

    private static Object dashboard() throws IOException {
        // Every JSON text is YAML.
        return new Load(LoadSettings.builder().build()).loadFromString(Files.readString(DASHBOARD));
    }

    /** The texts with one of these names, wherever they are. */
    private static List<String> values(Object json, Set<String> names) {
        List<String> found = new ArrayList<>();
        if (json instanceof Map<?, ?> object) {
            object.forEach((name, value) -> {
                if (names.contains(name.toString()) && value instanceof String text) {
                    found.add(text);
                } else {
                    found.addAll(values(value, names));
                }
            });
        } else if (json instanceof List<?> list) {
            list.forEach(value -> found.addAll(values(value, names)));
        }
        return found;
    }
}
