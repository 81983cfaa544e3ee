package dev.millrace.mirror.cli;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Formats the manual page of a command for {@code man} (roff), from the same texts as its {@code --help}. */
final class ManPage {
    private final CommandSpec command;
    private final StringBuilder roff = new StringBuilder();

    private ManPage(CommandSpec command) {
        this.command = command;
    }

    /**
     * Returns the page.
     *
     * @param version of the tool, for the foot of the page
     */
    static String of(CommandSpec command, String version) {
        ManPage page = new ManPage(command);
        page.addHead(version);
        page.addOptions();
        page.addSubcommands();
        page.addExitCodes();
        page.addOtherPages();
        return page.roff.toString();
    }

    /** Returns the name by which {@code man} finds the page, such as {@code mirror-run}. */
    static String name(CommandSpec command) {
        return command.qualifiedName("-");
    }

    private void addHead(String version) {
        roff.append(".TH %s 1 \"\" \"%s\" \"Millrace\"\n".formatted(escape(name(command)), escape(version)));
        roff.append(".ad l\n.nh\n"); // Options must not be broken at the end of a line.
        addSection("NAME");
        addText(name(command) + " - " + summary(command));
        addSection("SYNOPSIS");
        addText(new Help(command, Help.defaultColorScheme(Ansi.OFF)).synopsis(0));
        addSection("DESCRIPTION");
        for (String paragraph : command.usageMessage().description()) {
            roff.append(".PP\n");
            addText(paragraph.formatted());
        }
    }

    private void addOptions() {
        addSection("OPTIONS");
        for (PositionalParamSpec parameter : command.positionalParameters()) {
            addItem(parameter.paramLabel(), parameter.description());
        }
        command.options().stream()
                .filter(option -> !option.hidden())
                .sorted(Comparator.comparingInt(OptionSpec::order))
                .forEach(option -> addItem(
                        String.join(", ", option.names())
                                + (option.arity().max() == 0 ? "" : "=" + option.paramLabel()),
                        option.description()));
    }

    private void addSubcommands() {
        if (!command.subcommands().isEmpty()) {
            addSection("COMMANDS");
            command.subcommands().forEach((name, subcommand) -> addItem(name, summary(subcommand.getCommandSpec())));
        }
    }

    private void addExitCodes() {
        Map<String, String> codes = new TreeMap<>(command.usageMessage().exitCodeList());
        if (!codes.isEmpty()) {
            addSection("EXIT STATUS");
            codes.forEach(this::addItem);
        }
    }

    private void addOtherPages() {
        addSection("SEE ALSO");
        addText(
                command.parent() != null
                        ? name(command.parent()) + "(1)"
                        : command.subcommands().values().stream()
                                .map(subcommand -> name(subcommand.getCommandSpec()) + "(1)")
                                .collect(Collectors.joining(", ")));
    }

    private static String summary(CommandSpec command) {
        String[] header = command.usageMessage().header();
        return (header.length > 0 ? header[0] : command.usageMessage().description()[0]).formatted();
    }

    private void addSection(String title) {
        roff.append(".SH ").append(title).append('\n');
    }

    private void addItem(String term, String... description) {
        roff.append(".TP\n.B ").append(escape(term)).append('\n');
        addText(String.join(" ", description).formatted());
    }

    private void addText(String text) {
        text.lines().map(String::strip).filter(line -> !line.isEmpty()).forEach(line -> {
            roff.append(line.startsWith(".") ? "\\&" : "").append(escape(line)).append('\n');
        });
    }

    /** Escapes text so that it can be copied from the page: roff would print other dashes and quotes. */
    private static String escape(String text) {
        return text.replace("\\", "\\e")
                .replace("-", "\\-")
                .replace("'", "\\(aq")
                .replace("\"", "\\(dq")
                .replace("^", "\\(ha")
                .replace("~", "\\(ti");
    }
}
