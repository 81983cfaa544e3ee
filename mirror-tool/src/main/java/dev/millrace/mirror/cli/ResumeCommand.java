package dev.millrace.mirror.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Spec;

/** {@code mirror resume}: has a running mirror go on with topics that are paused. */
@Command(
        name = "resume",
        description = {
            "Has a running mirror, started with --http, go on with topics that are paused, where it has stopped."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:a mirror does not answer, or refuses", "2:the command line is wrong"})
final class ResumeCommand implements Callable<Integer> {
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
        return change.post("/resume", Map.of(), command.getOut(), command.getErr());
    }
}
