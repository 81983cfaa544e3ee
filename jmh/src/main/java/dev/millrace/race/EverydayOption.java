package dev.millrace.race;

import static dev.millrace.command.CommandLines.check;
import static dev.millrace.command.CommandLines.checkOneOf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option {@code --everyday}: runs a race for each of several {@link EverydayCase}s, one after the other. */
final class EverydayOption {
    private static final String ALL = "all";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--everyday",
            arity = "0..1",
            split = ",",
            fallbackValue = ALL,
            paramLabel = "CASE",
            completionCandidates = CaseNames.class,
            description =
                    "Runs cases that most programs meet, one round of millrace and kafka-4.4.0, and prints a table"
                            + " with a row for each; all take a quarter of an hour. Other options replace those of the cases."
                            + " Cases: ${COMPLETION-CANDIDATES}. Without a name: all, but with --paired only those that"
                            + " need no new JVMs.")
    private List<String> names;

    /** For the help. */
    static final class CaseNames extends ArrayList<String> {
        CaseNames() {
            super(EverydayCase.names());
        }
    }

    boolean isGiven() {
        return names != null;
    }

    /** Prints the JSON of a case when the case is over, but the table at the end. Blocks for minutes. */
    void run(boolean json) {
        EverydayTable table = new EverydayTable();
        races().forEach((everydayCase, race) -> {
            System.err.println(everydayCase.caseName() + ": " + everydayCase.description());
            RaceResults results = race.race();
            table.add(everydayCase, results);
            if (json) {
                System.out.print(results.json(everydayCase));
            }
        });
        if (!json) {
            System.out.print(table.print());
        }
    }

    /**
     * The race of each case that is named.
     *
     * @throws ParameterException if there is no such case, or a case cannot have an option that is given
     */
    Map<EverydayCase, RaceCommand> races() {
        boolean all = names.equals(List.of(ALL));
        String[] possible = EverydayCase.names().toArray(String[]::new);
        Map<EverydayCase, RaceCommand> races = new LinkedHashMap<>();
        boolean sideBySide = command.commandLine().getParseResult().hasMatchedOption("--paired");
        for (String name : all ? EverydayCase.names() : names) {
            checkOneOf(command, "--everyday", name, possible);
            EverydayCase everydayCase = EverydayCase.named(name);
            boolean canRun = !sideBySide || !everydayCase.needsNewJvms();
            check(
                    command,
                    canRun || all,
                    "case " + name + " needs a new JVM for each run: give --rounds, not --paired");
            if (canRun) {
                races.put(everydayCase, race(everydayCase));
            }
        }
        return races;
    }

    private RaceCommand race(EverydayCase everydayCase) {
        RaceCommand race = new RaceCommand();
        try {
            new CommandLine(race)
                    .parseArgs(everydayCase.commandLine(command.commandLine().getParseResult()));
            race.checkForEveryday();
            return race;
        } catch (ParameterException e) {
            String message = "case " + everydayCase.caseName() + ": " + e.getMessage();
            throw new ParameterException(command.commandLine(), message, e);
        }
    }
}
