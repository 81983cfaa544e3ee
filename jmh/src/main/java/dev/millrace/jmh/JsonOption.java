package dev.millrace.jmh;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import picocli.CommandLine.Option;

/** The option {@code --json} of the commands that run JMH. */
public final class JsonOption {
    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes JMH's results to this file as well, in its JSON format.")
    private Path json;

    /** To be called before the runs, so that a wrong path fails now, not after half an hour. */
    public void check() throws IOException {
        if (json != null) {
            Files.writeString(json, "");
        }
    }

    /** Writes the results, if a file was given. */
    public void write(Collection<RunResult> results) {
        if (json == null) {
            return;
        }
        try (PrintStream file = new PrintStream(json.toFile(), StandardCharsets.UTF_8)) {
            ResultFormatFactory.getInstance(ResultFormatType.JSON, file).writeOut(results);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
