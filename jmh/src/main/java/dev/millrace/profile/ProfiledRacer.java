package dev.millrace.profile;

import dev.millrace.race.Racer;
import dev.millrace.race.Span;
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
    private static final String START = "millrace.profile.start";
    private static final String STACKS = "millrace.profile.stacks";
    private static final String GRAPH = "millrace.profile.graph";

    /** That nothing was sampled is good news, not a warning. */
    private static final String QUIETLY = ",loglevel=warn";

    private ProfiledRacer() {}

    public static void main(String[] arguments) throws Exception {
        AsyncProfiler profiler = AsyncProfiler.getInstance();
        Racer.watch(arguments, new Span() {
            @Override
            public void begin() {
                execute(profiler, System.getProperty(START));
            }

            @Override
            public void end() {
                execute(profiler, "stop");
            }
        });
        execute(profiler, System.getProperty(STACKS));
        execute(profiler, System.getProperty(GRAPH));
        System.out.println(profiler.getSamples());
    }

    private static void execute(AsyncProfiler profiler, String command) {
        try {
            profiler.execute(command + QUIETLY);
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
                "-D" + START + "=" + start,
                "-D" + STACKS + "=" + stacks,
                "-D" + GRAPH + "=" + graph,
                // Without these, inlined methods count as their callers.
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+DebugNonSafepoints");
    }
}
