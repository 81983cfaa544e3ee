package dev.millrace.mirror.cli;

import dev.millrace.mirror.cluster.KafkaLogs;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.text.MirrorException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;

/**
 * The settings that the user gives the clients of one cluster, and where each of them was given, for messages. Later
 * settings override earlier ones.
 */
final class GivenSettings {
    private final Map<String, String> values = new HashMap<>();
    /** The name of each setting as the user wrote it: {@code --config mirror.yaml: source.acks}. */
    private final Map<String, String> names = new TreeMap<>();
    /** The files and options with settings, for messages that concern no single setting. */
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

    /** Adds the setting given by an option of its own; null if the user has not given it. */
    void addOption(String key, String valueOrNull, String option) {
        if (valueOrNull != null) {
            add(key, valueOrNull, option);
        }
    }

    /**
     * Returns the settings of the same client for another cluster: those that belong to a cluster are the other one's.
     * Variables are replaced.
     *
     * @param there the settings of the client that has used the other cluster
     * @throws MirrorException when a provider cannot be used
     */
    GivenSettings at(GivenSettings there) {
        GivenSettings moved = new GivenSettings();
        moved.take(this, setting -> !DerivedConfigs.isOfCluster(setting));
        moved.take(there, DerivedConfigs::isOfCluster);
        return moved;
    }

    private void take(GivenSettings other, Predicate<String> isTaken) {
        places.addAll(other.places);
        other.resolve().forEach((key, value) -> {
            if (isTaken.test(key)) {
                add(key, value.toString(), other.names.get(key));
            }
        });
    }

    private void add(String key, String value, String name) {
        values.put(key, value);
        names.put(key, name);
    }

    /**
     * Returns the settings as clients take them. The providers of {@code config.providers} replace variables such as
     * {@code ${env:PASSWORD}} here, once, as a client would do. The result leaves the providers out: no derived
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

    /** Returns the name of each setting as the user wrote it, by its key. */
    Map<String, String> names() {
        return names;
    }

    /** Returns the setting with its value as the user wrote it: {@code --source a:1}. */
    String describe(String key, Object value) {
        String name = names.get(key);
        return name.endsWith(key)
                ? name + "=" + value
                : name + " " + (value.toString().isBlank() ? "''" : value);
    }

    /**
     * Lets Kafka check the settings.
     *
     * @throws MirrorException naming the settings that Kafka refuses, and where they were given
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
