package dev.millrace.mirror.cli;

import dev.millrace.mirror.text.MirrorException;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.DuplicateKeyException;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The file of {@code --config}. It has command-line options under their names without dashes, and client settings of
 * each cluster under {@code source.} and {@code target.}. It is YAML if its name ends in {@code .yaml} or {@code .yml},
 * else a properties file. A file may serve several commands: each takes what it knows.
 *
 * <p>Its options become arguments, so an option has the same checks and meaning wherever it is written. The command
 * line overrides the file. Client settings, which may be passwords, never become arguments.
 */
final class ConfigFile {
    static final String OPTION = "--config";
    /** Sections with the settings of clients. */
    private static final Set<String> SECTIONS = Set.of("source.", "target.");

    /** Matches an option in a message. */
    private static final Pattern MENTIONED = Pattern.compile("--([a-z0-9][a-z0-9.-]*)");

    private final Path path;
    /** The entries by key, in order; a list has its elements in the file's order. */
    private final Map<String, List<String>> entries;

    /** The keys whose options are on the command line now. */
    private final Set<String> expanded = new HashSet<>();

    private ConfigFile(Path path, Map<String, List<String>> entries) {
        this.path = path;
        this.entries = entries;
    }

    /**
     * Returns the arguments, with the file's options added if they name a file. The command's {@link MirrorOptions} get
     * the file for its client settings.
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
        ConfigFile file = read(path.get());
        MirrorOptions.of(command).ifPresent(options -> options.useFile(file));
        List<String> expanded = new ArrayList<>(List.of(args[0]));
        expanded.addAll(file.toArguments(command, main, args));
        expanded.addAll(Arrays.asList(args).subList(1, args.length));
        return expanded.toArray(String[]::new);
    }

    /** Returns the file that the arguments name, if any. */
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

    /**
     * Adds the settings of the clients of one cluster.
     *
     * @param section {@code source.} or {@code target.}
     */
    void addSettings(GivenSettings given, String section) {
        Map<String, String> settings = new HashMap<>();
        entries.forEach((key, values) -> {
            if (key.startsWith(section)) {
                settings.put(key.substring(section.length()), String.join(",", values));
            }
        });
        given.add(settings, this.toString(), ": " + section);
    }

    /** Returns the part of a message's sentence that says which of its options are in this file. */
    String describeOptions(String message) {
        String keys = MENTIONED
                .matcher(message)
                .results()
                .map(option -> option.group(1))
                .filter(expanded::contains)
                .distinct()
                .collect(Collectors.joining(" and "));
        return (keys.isEmpty() ? "options are also" : keys + " stands") + " in " + this;
    }

    /** Formats the file as on the command line. */
    @Override
    public String toString() {
        return OPTION + " " + path;
    }

    private List<String> toArguments(CommandLine command, CommandLine main, String[] args) {
        List<String> arguments = new ArrayList<>();
        entries.forEach((key, values) -> {
            if (SECTIONS.stream().anyMatch(key::startsWith)) {
                return;
            }
            OptionSpec option = command.getCommandSpec().findOption("--" + key);
            if (option == null || key.equals("config")) {
                requireKnown(key, command, main);
            } else if (!isGiven(args, "--" + key)) {
                addOption(option, key, values, arguments);
                expanded.add(key);
            }
        });
        return arguments;
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
        } catch (DuplicateKeyException e) {
            throw wrong(path, "the key" + position(e.getProblemMark()) + " is given twice");
        } catch (MarkedYamlEngineException e) {
            // Leaves out the parser's whole message, which quotes the line: that may contain a password.
            throw wrong(path, "it is not YAML" + position(e.getProblemMark()));
        } catch (YamlEngineException e) {
            throw wrong(path, "it is not YAML");
        }
    }

    private static String position(Optional<Mark> place) {
        return place.map(mark -> " at line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1))
                .orElse("");
    }

    /** Joins the keys of nested maps with dots, as in a properties file. */
    private static void flatten(Path path, String key, Object value, Map<String, List<String>> entries) {
        if (value instanceof Map<?, ?> map) {
            map.forEach((name, inner) -> flatten(path, key.isEmpty() ? name + "" : key + "." + name, inner, entries));
        } else if (key.isEmpty()) {
            throw wrong(path, "expected are lines such as 'threads: 8'");
        } else {
            List<String> texts = new ArrayList<>();
            (value instanceof List<?> list ? list : Collections.singletonList(value))
                    .forEach(element -> texts.add(text(path, key, element)));
            if (entries.put(key, texts) != null) {
                throw wrong(path, key + " is given twice");
            }
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
