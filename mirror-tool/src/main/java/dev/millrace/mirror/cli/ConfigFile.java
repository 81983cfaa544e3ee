package dev.millrace.mirror.cli;

import dev.millrace.mirror.MirrorException;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The file of {@code --config}: options of the command line under their names without dashes, and settings of the
 * clients of each cluster under {@code source.} and {@code target.}. It is YAML if its name ends in {@code .yaml} or
 * {@code .yml}, else a properties file. A file may serve several commands: each takes what it knows.
 *
 * <p>Its entries become arguments, so an option has the same checks and meaning wherever it is written. What the command
 * line has, the file does not change.
 */
final class ConfigFile {
    static final String OPTION = "--config";
    /** Sections of settings of clients, and the options that take one of these. */
    private static final Map<String, String> SETTING_OPTIONS =
            Map.of("source.", "--source-setting", "target.", "--target-setting");

    private static final String ADDRESS = "bootstrap.servers";

    private final Path path;
    /** In order of the keys; a list has its elements in the file's order. */
    private final Map<String, List<String>> entries;

    private ConfigFile(Path path, Map<String, List<String>> entries) {
        this.path = path;
        this.entries = entries;
    }

    /**
     * The arguments, to which those of the file are added if they name one.
     *
     * @param args as the user gave them
     * @throws MirrorException naming the file, and the key that is wrong
     */
    static String[] expand(String[] args, CommandLine main) {
        Optional<Path> path = findPath(args);
        CommandLine command = args.length == 0 ? null : main.getSubcommands().get(args[0]);
        if (path.isEmpty()
                || command == null
                || !command.getCommandSpec().optionsMap().containsKey(OPTION)) {
            return args;
        }
        List<String> expanded = new ArrayList<>(List.of(args[0]));
        expanded.addAll(read(path.get()).toArguments(command, main, args));
        expanded.addAll(Arrays.asList(args).subList(1, args.length));
        return expanded.toArray(String[]::new);
    }

    /** The file that the arguments name, if they do. */
    static Optional<Path> findPath(String[] args) {
        for (int i = 0; i < args.length; i++) {
            if (args[i].startsWith(OPTION + "=")) {
                return Optional.of(Path.of(args[i].substring(OPTION.length() + 1)));
            }
            if (args[i].equals(OPTION) && i + 1 < args.length) {
                return Optional.of(Path.of(args[i + 1]));
            }
        }
        return Optional.empty();
    }

    private List<String> toArguments(CommandLine command, CommandLine main, String[] args) {
        List<String> arguments = new ArrayList<>();
        entries.forEach((key, values) -> {
            Optional<String> section =
                    SETTING_OPTIONS.keySet().stream().filter(key::startsWith).findFirst();
            if (section.isPresent()) {
                addSetting(section.get(), key.substring(section.get().length()), values, args, arguments);
                return;
            }
            OptionSpec option = command.getCommandSpec().findOption("--" + key);
            if (option == null || key.equals("config")) {
                requireKnown(key, command, main);
            } else if (!isGiven(args, "--" + key)) {
                addOption(option, key, values, arguments);
            }
        });
        return arguments;
    }

    private static void addSetting(
            String section, String setting, List<String> values, String[] args, List<String> arguments) {
        String value = String.join(",", values);
        String address = "--" + section.substring(0, section.length() - 1);
        if (setting.equals(ADDRESS)) {
            if (!isGiven(args, address)) {
                arguments.add(address + "=" + value);
            }
        } else {
            // The same setting on the command line comes later, and so overrides it.
            arguments.add(SETTING_OPTIONS.get(section) + "=" + setting + "=" + value);
        }
    }

    private void addOption(OptionSpec option, String key, List<String> values, List<String> arguments) {
        String name = "--" + key;
        if (option.arity().max() == 0) {
            String value = String.join(",", values);
            if (!value.equals("true") && !value.equals("false")) {
                throw wrong(key + "=" + value + ": expected true or false");
            }
            if (value.equals("true")) {
                arguments.add(name);
            }
        } else if (option.isMultiValue()) {
            values.forEach(value -> arguments.add(name + "=" + value));
        } else {
            arguments.add(name + "=" + String.join(",", values));
        }
    }

    private static boolean isGiven(String[] args, String option) {
        return Arrays.stream(args).anyMatch(arg -> arg.equals(option) || arg.startsWith(option + "="));
    }

    /** Refuses a key that is an option of no command that takes such a file. */
    private void requireKnown(String key, CommandLine command, CommandLine main) {
        Set<String> known = main.getSubcommands().values().stream()
                .map(other -> other.getCommandSpec().optionsMap().keySet())
                .filter(names -> names.contains(OPTION))
                .flatMap(Collection::stream)
                .filter(name -> name.startsWith("--") && !name.equals(OPTION))
                .map(name -> name.substring(2))
                .collect(Collectors.toCollection(TreeSet::new));
        if (!known.contains(key)) {
            throw wrong(key + " is not an option of "
                    + command.getCommandSpec().qualifiedName() + "; "
                    + UnknownSettings.resembling(key, known)
                            .map(name -> "did you mean " + name + "?")
                            .orElse("settings of Kafka's clients begin with source. or target."));
        }
    }

    private static ConfigFile read(Path path) {
        String name = path.toString();
        try (Reader reader = Files.newBufferedReader(path)) {
            Map<String, List<String>> entries = new TreeMap<>();
            if (name.endsWith(".yaml") || name.endsWith(".yml")) {
                flatten(path, "", parseYaml(path, reader), entries);
            } else {
                Properties properties = new Properties();
                properties.load(reader);
                properties.stringPropertyNames().forEach(key -> entries.put(key, List.of(properties.getProperty(key))));
            }
            return new ConfigFile(path, entries);
        } catch (NoSuchFileException e) {
            throw wrong(path, "there is no such file");
        } catch (IOException | IllegalArgumentException e) {
            throw wrong(path, "cannot be read, " + ClientConfigs.whyUnreadable(path));
        }
    }

    private static Object parseYaml(Path path, Reader reader) {
        try {
            LoadSettings settings =
                    LoadSettings.builder().setLabel(path.toString()).build();
            Object root = new Load(settings).loadFromReader(reader);
            return root == null ? Map.of() : root;
        } catch (MarkedYamlEngineException e) {
            // Not its whole message, which quotes the line: that may hold a password.
            String where = e.getProblemMark()
                    .map(mark -> " at line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1))
                    .orElse("");
            throw wrong(path, "it is not YAML" + where);
        } catch (YamlEngineException e) {
            throw wrong(path, "it is not YAML");
        }
    }

    /** Joins the keys of nested maps by dots, as they are in a properties file. */
    private static void flatten(Path path, String key, Object value, Map<String, List<String>> entries) {
        if (value instanceof Map<?, ?> map) {
            map.forEach((name, inner) -> flatten(path, key.isEmpty() ? name + "" : key + "." + name, inner, entries));
        } else if (key.isEmpty()) {
            throw wrong(path, "expected are lines such as 'threads: 8'");
        } else if (value instanceof List<?> list) {
            List<String> texts = new ArrayList<>();
            list.forEach(element -> texts.add(text(path, key, element)));
            entries.put(key, texts);
        } else {
            entries.put(key, List.of(text(path, key, value)));
        }
    }

    private static String text(Path path, String key, Object value) {
        if (value == null) {
            throw wrong(path, key + " has no value; give one, or remove the line");
        }
        if (value instanceof Map || value instanceof List) {
            throw wrong(path, key + ": a list of texts or numbers is expected, not of lists or maps");
        }
        return value.toString();
    }

    private MirrorException wrong(String why) {
        return wrong(path, why);
    }

    private static MirrorException wrong(Path path, String why) {
        return MirrorException.usage(OPTION + " " + path + ": " + why);
    }
}
