package dev.millrace.profile;

import dev.millrace.race.MeasurementListener;
import dev.millrace.race.Racer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import one.profiler.AsyncProfiler;

/**
 * A {@link Racer} with async-profiler, which runs during the measured part only: warm-up, its compilation above all, is left
 * out. Its last line on standard output is the number of samples.
 *
 * <p>Besides the racer's arguments it is told by system properties what to profile and where to write it.
 */
public final class ProfiledRacer {
    private static final String START_COMMAND = "millrace.profile.start";
    private static final String STACKS_COMMAND = "millrace.profile.stacks";
    private static final String GRAPH_COMMAND = "millrace.profile.graph";

    /** That nothing was sampled is good news, not a warning. */
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
     * The options of its JVM.
     *
     * @param start what tells async-profiler to start
     * @param stacks what tells it to write all stacks
     * @param graph what tells it to write a flame graph
     */
    static List<String> options(String start, String stacks, String graph) {
        return List.of(
                "-D" + START_COMMAND + "=" + start,
                "-D" + STACKS_COMMAND + "=" + stacks,
                "-D" + GRAPH_COMMAND + "=" + graph,
                // Without these, inlined methods count as their callers.
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+DebugNonSafepoints");
    }
}
