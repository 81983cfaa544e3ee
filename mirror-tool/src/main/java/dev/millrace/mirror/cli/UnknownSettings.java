package dev.millrace.mirror.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.common.config.AbstractConfig;

/** Finds settings that no client knows and that are probably misspelt. Kafka's clients ignore them. */
final class UnknownSettings {
    /** All clients read settings with these prefixes, but none lists them. */
    private static final List<String> UNLISTED =
            List.of(AbstractConfig.CONFIG_PROVIDERS_CONFIG, CommonClientConfigs.METRICS_CONTEXT_PREFIX);

    private static final int MAX_DISTANCE = 3;

    private UnknownSettings() {}

    /**
     * Returns a message for each unknown setting, with the known one that it resembles.
     *
     * @param given the names of the settings in messages, by key
     * @param client the name, in messages, of the client that reads the settings
     */
    static List<String> describe(Map<String, String> given, Set<String> known, String client) {
        List<String> descriptions = new ArrayList<>();
        new TreeMap<>(given).forEach((key, name) -> {
            if (!known.contains(key) && UNLISTED.stream().noneMatch(key::startsWith)) {
                descriptions.add(
                        name + " is not a setting of the " + client + ", which ignores it; " + suggest(key, known));
            }
        });
        return descriptions;
    }

    private static String suggest(String key, Set<String> known) {
        return resembling(key, known)
                .map(name -> "did you mean " + name + "?")
                .orElse("remove it, unless a plugin of yours reads it");
    }

    /** Returns the known name that is probably meant, if one is close enough. */
    static Optional<String> resembling(String key, Set<String> known) {
        return known.stream()
                .min(Comparator.comparingInt((String name) -> editDistance(key, name))
                        .thenComparing(name -> name))
                .filter(name -> editDistance(key, name) <= MAX_DISTANCE);
    }

    /** Returns how many characters must be inserted, removed or replaced to turn one text into the other. */
    private static int editDistance(String left, String right) {
        int[] row = new int[right.length() + 1];
        for (int j = 0; j <= right.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= left.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= right.length(); j++) {
                int replaced = diagonal + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[right.length()];
    }
}
