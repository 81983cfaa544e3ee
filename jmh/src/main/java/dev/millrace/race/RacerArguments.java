package dev.millrace.race;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The command line of a {@link Racer}: arguments of the form {@code name=value}. */
final class RacerArguments {
    private static final String CONFIG = "config.";

    private final Map<String, String> values = new TreeMap<>();

    /** @throws IllegalArgumentException if an argument is not of the form {@code name=value} */
    RacerArguments(String... arguments) {
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("Not of the form name=value: " + argument);
            }
            set(argument.substring(0, equals), argument.substring(equals + 1));
        }
    }

    RacerArguments set(String name, Object value) {
        values.put(name, value.toString());
        return this;
    }

    /** Adds a setting of the producer. */
    RacerArguments config(String key, Object value) {
        return set(CONFIG + key, value);
    }

    /** @throws IllegalArgumentException if the argument is missing */
    String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("Argument " + name + "= is missing");
        }
        return value;
    }

    int integer(String name) {
        return Integer.parseInt(text(name));
    }

    long whole(String name) {
        return Long.parseLong(text(name));
    }

    boolean flag(String name) {
        return Boolean.parseBoolean(text(name));
    }

    /** The settings of the producer. */
    Map<String, Object> config() {
        Map<String, Object> config = new HashMap<>();
        // No lambda: see FirstRecord.
        for (Map.Entry<String, String> value : values.entrySet()) {
            if (value.getKey().startsWith(CONFIG)) {
                config.put(value.getKey().substring(CONFIG.length()), value.getValue());
            }
        }
        return config;
    }

    /** The arguments as the constructor takes them. */
    String[] commandLine() {
        List<String> arguments = new ArrayList<>();
        values.forEach((name, value) -> arguments.add(name + "=" + value));
        return arguments.toArray(String[]::new);
    }
}
