package dev.millrace.mirror.demo;

import dev.millrace.mirror.Words;
import dev.millrace.mirror.cli.OptionValues;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;

/** A mirror that the demo can run: this one with either producer, or another altogether. */
enum Contender {
    STOCK("stock producer"),
    MILLRACE("Millrace"),
    /** Millrace in the mode that passes large batches and merges small ones. */
    MILLRACE_AUTO("Millrace, auto"),
    MILLRACE_RECORDS("Millrace, records"),
    MILLRACE_BATCHES("Millrace, batches"),
    /** {@code kafka.tools.MirrorMaker}, with its own producer and class path. */
    MIRRORMAKER1("MirrorMaker 1"),
    /** The same, with the settings of this mirror. */
    MIRRORMAKER1_TUNED("MirrorMaker 1, tuned");

    private final String title;

    Contender(String title) {
        this.title = title;
    }

    /** The name on the command line. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The same as {@link #label}, which picocli prints. */
    @Override
    public String toString() {
        return label();
    }

    /** Converts names; the errors of picocli's own converter would name the Java constants. */
    static final class Parser implements ITypeConverter<Contender> {
        @Override
        public Contender convert(String text) {
            return OptionValues.parse(values(), text);
        }
    }

    /** The options of {@code mirror run} that make it this contender; none of MirrorMaker. */
    List<String> options() {
        return switch (this) {
            case STOCK -> List.of("--producer=stock");
            case MILLRACE -> List.of("--producer=millrace");
            case MILLRACE_AUTO -> List.of("--mode=auto");
            case MILLRACE_RECORDS -> List.of("--mode=records");
            case MILLRACE_BATCHES -> List.of("--mode=batches");
            case MIRRORMAKER1, MIRRORMAKER1_TUNED -> List.of();
        };
    }

    boolean isMirrorMaker() {
        return this == MIRRORMAKER1 || this == MIRRORMAKER1_TUNED;
    }

    /** The name in the legend of a chart. */
    String title() {
        return title;
    }

    /** Describes one run of it. */
    String describe(int threads) {
        String who = isMirrorMaker() ? title : label() + " producer";
        return who + ", " + Words.count(threads, isMirrorMaker() ? "stream" : "thread");
    }
}
