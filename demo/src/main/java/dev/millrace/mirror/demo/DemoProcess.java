package dev.millrace.mirror.demo;

import dev.millrace.mirror.text.MirrorException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;

/** Starts a run of the demo in a JVM of its own and reads its output. */
final class DemoProcess {
    private static final String PROGRESS = "progress ";
    private static final String START = "start";
    private static final String END = "end ";
    private static final String FIGURES = "figures ";
    private static final String STACK_FRAME = "\tat ";
    private static final int SHOWN_LINES = 5;

    private DemoProcess() {}

    /**
     * Touches all pages of the heap before the run is measured. The first touch of a page may cost as much as mirroring
     * ten records; a mirror that runs for days does it once, but it would distort these short runs.
     */
    static final String PRE_TOUCH_HEAP = "-XX:+AlwaysPreTouch";

    /**
     * Runs a main class that calls {@link #endWithParent} and {@code print}. Blocks until it has ended.
     *
     * @param classPath for the child
     * @param options for its JVM
     * @param args for the main class
     * @param listener hears how far the run is
     * @throws MirrorException with the last lines that the run printed, when it fails
     */
    static Measurement.Figures run(
            String classPath, List<String> options, Class<?> main, List<String> args, RunListener listener) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(args);
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                return read(lines, listener);
            } finally {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The options of this JVM, and {@link #PRE_TOUCH_HEAP}. */
    static List<String> ownOptions() {
        List<String> options =
                new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
        options.add(PRE_TOUCH_HEAP);
        return options;
    }

    private static Measurement.Figures read(BufferedReader lines, RunListener listener) throws IOException {
        Deque<String> others = new ArrayDeque<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(PROGRESS)) {
                listener.onProgress(Long.parseLong(line.substring(PROGRESS.length())));
            } else if (line.equals(START)) {
                listener.onMeasurementStarted();
            } else if (line.startsWith(END)) {
                listener.onMeasurementEnded(Long.parseLong(line.substring(END.length())));
            } else if (line.startsWith(FIGURES)) {
                return parse(line.substring(FIGURES.length()).split(" "));
            } else if (!line.startsWith(STACK_FRAME)) {
                others.add(line);
                if (others.size() > SHOWN_LINES) {
                    others.remove();
                }
            }
        }
        throw MirrorException.failed("A run of the demo failed; it printed: " + String.join("; ", others));
    }

    private static Measurement.Figures parse(String[] fields) {
        double[] values = Stream.of(fields).mapToDouble(Double::parseDouble).toArray();
        return new Measurement.Figures(values[0], new CpuPerRecord(values[1], values[2]), values[3], values[4]);
    }

    /**
     * To be called first in the child. Ends it when its parent ends, even if that is killed, because then the child's
     * standard input is closed.
     */
    static void endWithParent() {
        Thread parent = new Thread(DemoProcess::exitWithParent, "parent");
        parent.setDaemon(true);
        parent.start();
    }

    private static void exitWithParent() {
        try {
            while (System.in.read() >= 0) {
                // The parent sends nothing.
            }
        } catch (IOException e) {
            // The parent has ended, too.
        }
        Runtime.getRuntime().halt(1);
    }

    /** Called in the child with the number of records mirrored so far. */
    static void print(long records) {
        System.out.println(PROGRESS + records);
    }

    /** Called in the child when the measurement begins. */
    static void printStart() {
        System.out.println(START);
    }

    /** Called in the child when the measurement has ended. */
    static void printEnd(long measuredRecords) {
        System.out.println(END + measuredRecords);
    }

    /** Called last in the child. */
    static void print(Measurement.Figures figures) {
        System.out.println(FIGURES + figures.recordsPerSecond() + " "
                + figures.cpu().process() + " " + figures.cpu().compiler() + " "
                + figures.sendMeanNanos() + " " + figures.sendP99Nanos());
    }
}
