package dev.millrace.mirror.groups;

import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects messages about groups, and logs each message once for all groups that it concerns.
 *
 * <p><b>Threads:</b> one.
 */
final class GroupNews {
    private static final Logger LOG = LoggerFactory.getLogger(GroupNews.class);

    private final Map<String, List<String>> news = new LinkedHashMap<>();
    private final Map<Failure, List<String>> failures = new LinkedHashMap<>();

    private record Failure(String text, String reason) {}

    /** @param text with {@code {}} in place of the groups */
    void add(String text, String group) {
        news.computeIfAbsent(text, none -> new ArrayList<>()).add(group);
    }

    /** @param text with {@code {}} in place of the groups, and of the reason */
    void addFailure(String text, String group, Throwable cause) {
        failures.computeIfAbsent(new Failure(text, MirrorException.reason(cause)), none -> new ArrayList<>())
                .add(group);
    }

    void tell() {
        news.forEach((text, groups) -> LOG.info(text, Words.list(groups, "group")));
        failures.forEach((failure, groups) -> LOG.warn(failure.text, Words.list(groups, "group"), failure.reason));
        news.clear();
        failures.clear();
    }
}
