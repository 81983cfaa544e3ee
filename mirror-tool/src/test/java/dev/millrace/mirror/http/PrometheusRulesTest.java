package dev.millrace.mirror.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.mirror.support.Statuses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The alerts of the Helm chart ask for nothing that {@code /metrics} does not have, and each is explained. */
class PrometheusRulesTest {
    private static final Path RULES = Path.of("helm", "millrace-mirror", "templates", "prometheusrule.yaml");
    private static final Path PAGE = Path.of("..", "docs", "mirror-kubernetes.md");

    @Test
    void shouldNameOnlyMetricsThatThereAre() throws IOException {
        Set<String> known = MirrorMetrics.format(Statuses.expiring(Instant.EPOCH))
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.replaceAll("[{ ].*", ""))
                .collect(Collectors.toSet());

        assertThat(found("millrace_mirror_\\w+")).hasSizeGreaterThan(8).isSubsetOf(known);
    }

    @Test
    void shouldLinkEachAlertToAHeadingOfThePage() throws IOException {
        List<String> alerts = found("(?<=- alert: )\\w+");
        List<String> page = Files.readAllLines(PAGE);

        assertThat(alerts).isNotEmpty().allSatisfy(alert -> assertThat(page).contains("### " + alert));
        assertThat(found("(?<=runbook }}#)\\w+"))
                .containsExactlyElementsOf(alerts.stream()
                        .map(alert -> alert.toLowerCase(Locale.ROOT))
                        .toList());
    }

    private static List<String> found(String pattern) throws IOException {
        return Pattern.compile(pattern)
                .matcher(Files.readString(RULES))
                .results()
                .map(match -> match.group())
                .toList();
    }
}
