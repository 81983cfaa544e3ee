package dev.millrace.mirror.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine;

/**
 * Writes the package's files that are generated from the commands and their options: the manual pages, and the
 * completion for bash and zsh. The build runs it.
 */
public final class PackageFiles {
    private PackageFiles() {}

    /** Takes the folder to write to, in which it creates a folder {@code share}, and the version of the tool. */
    public static void main(String[] args) throws IOException {
        Path share = Path.of(args[0], "share");
        CommandLine main = Main.commandLine((stop, left) -> {});
        String name = main.getCommandName();

        Path pages = Files.createDirectories(share.resolve("man/man1"));
        List<CommandLine> commands = new ArrayList<>(List.of(main));
        commands.addAll(main.getSubcommands().values());
        for (CommandLine command : commands) {
            String page = ManPage.of(command.getCommandSpec(), name + " " + args[1]);
            Files.writeString(pages.resolve(ManPage.name(command.getCommandSpec()) + ".1"), page);
        }
        Path completions = Files.createDirectories(share.resolve("bash-completion/completions"));
        Files.writeString(completions.resolve(name), AutoComplete.bash(name, main));
    }
}
