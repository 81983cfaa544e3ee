package dev.millrace.mirror.cli;

import dev.millrace.mirror.cluster.KafkaLogs;
import dev.millrace.mirror.text.MirrorException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;

/**
 * The settings that the user gives the clients of one cluster, and where each of them stands, for messages. What is added
 * later overrides what is there.
 */
final class GivenSettings {
    private final Map<String, String> values = new HashMap<>();
    /** What the user calls each setting: {@code --config mirror.yaml: source.acks}. */
    private final Map<String, String> names = new TreeMap<>();
    /** The files and options that have settings, for messages about none in particular. */
    private final Set<String> places = new LinkedHashSet<>();

    /**
     * Adds the settings of a file, or of an option that takes several.
     *
     * @param place the file or the option: {@code --config mirror.yaml}
     * @param prefix what stands between the place and a key: {@code : source.}
     */
    void add(Map<String, String> settings, String place, String prefix) {
        if (!settings.isEmpty()) {
            places.add(place);
        }
        settings.forEach((key, value) -> add(key, value, place + prefix + key));
    }

    /** Adds the setting that an option of its own gives; null if the user has not given it. */
    void addOption(String key, String valueOrNull, String option) {
        if (valueOrNull != null) {
            add(key, valueOrNull, option);
        }
    }

    private void add(String key, String value, String name) {
        values.put(key, value);
        names.put(key, name);
    }

    /**
     * The settings as clients take them. Variables such as {@code ${env:PASSWORD}} are replaced here, once, by the
     * providers of {@code config.providers}, as a client would do it. The providers are left out: no derived
     * configuration needs them, and a value that looks like a variable is not replaced a second time.
     *
     * @throws MirrorException when a provider cannot be used
     */
    Map<String, Object> resolve() {
        Map<String, Object> resolved = KafkaLogs.callSilently(
                () -> validate(() -> new AbstractConfig(new ConfigDef(), values, false).originals()));
        resolved.keySet().removeIf(key -> key.startsWith(AbstractConfig.CONFIG_PROVIDERS_CONFIG));
        return resolved;
    }

    /** What the user calls each setting, by its key. */
    Map<String, String> names() {
        return names;
    }

    /** The setting with its value, as the user has written it: {@code --source a:1}. */
    String describe(String key, Object value) {
        String name = names.get(key);
        return name.endsWith(key)
                ? name + "=" + value
                : name + " " + (value.toString().isBlank() ? "''" : value);
    }

    /**
     * Lets Kafka check the settings.
     *
     * @throws MirrorException naming the settings that Kafka refuses, and where they stand
     */
    <T> T validate(Supplier<T> check) {
        try {
            return check.get();
        } catch (KafkaException e) {
            throw MirrorException.refused(origin(MirrorException.reason(e)), e);
        }
    }

    private String origin(String reason) {
        List<String> named = names.keySet().stream()
                .filter(key -> Pattern.compile("(?<![\\w.])" + Pattern.quote(key) + "(?!\\.?\\w)")
                        .matcher(reason)
                        .find())
                .map(names::get)
                .toList();
        if (!named.isEmpty()) {
            return String.join(", ", named);
        }
        return places.isEmpty() ? "Configuration" : String.join(", ", places);
    }
}
