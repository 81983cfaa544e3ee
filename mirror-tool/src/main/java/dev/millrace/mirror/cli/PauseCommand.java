package dev.millrace.mirror.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Spec;

/** {@code mirror pause}: has a running mirror read no more of topics. */
@Command(
        name = "pause",
        description = {
            "Has a running mirror, started with --http, read nothing more of topics until 'mirror resume'.",
            "What is read already is still written and committed. A mirror that is started again copies all topics."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:a mirror does not answer, or refuses", "2:the command line is wrong"})
final class PauseCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("unused") // Its annotation is what counts.
    private StandardOptions standard;

    @Mixin
    private ChangeOptions change;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        CommandLine command = spec.commandLine();
        return change.post("/pause", Map.of(), command.getOut(), command.getErr());
    }
}
