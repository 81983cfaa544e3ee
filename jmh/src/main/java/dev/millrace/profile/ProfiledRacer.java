package dev.millrace.profile;

import dev.millrace.race.MeasurementListener;
import dev.millrace.race.Racer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import one.profiler.AsyncProfiler;

/**
 * Main class that runs a {@link Racer} with async-profiler, which is active only in the measured part, because the
 * warm-up includes most of the compilation. The last line on standard output is the number of samples.
 *
 * <p>Its arguments are those of the racer. System properties hold the commands for async-profiler.
 */
public final class ProfiledRacer {
    private static final String START_COMMAND = "millrace.profile.start";
    private static final String STACKS_COMMAND = "millrace.profile.stacks";
    private static final String GRAPH_COMMAND = "millrace.profile.graph";

    /** Does not print that there are no samples, which is a good result, not a problem. */
    private static final String WARNINGS_ONLY = ",loglevel=warn";

    private ProfiledRacer() {}

    public static void main(String[] arguments) throws Exception {
        AsyncProfiler profiler = AsyncProfiler.getInstance();
        Racer.runMeasured(arguments, new MeasurementListener() {
            @Override
            public void onBegin() {
                execute(profiler, System.getProperty(START_COMMAND));
            }

            @Override
            public void onEnd() {
                execute(profiler, "stop");
            }
        });
        execute(profiler, System.getProperty(STACKS_COMMAND));
        execute(profiler, System.getProperty(GRAPH_COMMAND));
        System.out.println(profiler.getSamples());
    }

    private static void execute(AsyncProfiler profiler, String command) {
        try {
            profiler.execute(command + WARNINGS_ONLY);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The JVM options that this class needs.
     *
     * @param start the command that starts async-profiler
     * @param stacks the command that writes all stacks
     * @param graph the command that writes a flame graph
     */
    static List<String> options(String start, String stacks, String graph) {
        return List.of(
                "-D" + START_COMMAND + "=" + start,
                "-D" + STACKS_COMMAND + "=" + stacks,
                "-D" + GRAPH_COMMAND + "=" + graph,
                // Without these, inlined methods are counted as their callers.
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+DebugNonSafepoints");
    }
}
