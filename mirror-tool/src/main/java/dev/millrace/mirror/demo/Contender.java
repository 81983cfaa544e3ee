package dev.millrace.mirror.demo;

import dev.millrace.mirror.Words;
import dev.millrace.mirror.cli.OptionValues;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;

/** A mirror that the demo can run: this one with either producer, or another altogether. */
enum Contender {
    STOCK("stock producer"),
    MILLRACE("Millrace"),
    /** {@code kafka.tools.MirrorMaker}, with a producer and a class path of its own. */
    MIRRORMAKER1("MirrorMaker 1"),
    /** The same, with the settings of this mirror. */
    MIRRORMAKER1_TUNED("MirrorMaker 1, tuned");

    private final String title;

    Contender(String title) {
        this.title = title;
    }

    /** As it is given on the command line. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The command line knows it by this. */
    @Override
    public String toString() {
        return label();
    }

    /** For picocli, whose own errors name the constants. */
    static final class Parser implements ITypeConverter<Contender> {
        @Override
        public Contender convert(String text) {
            return OptionValues.parse(values(), text);
        }
    }

    boolean isMirrorMaker() {
        return this == MIRRORMAKER1 || this == MIRRORMAKER1_TUNED;
    }

    /** For a legend. */
    String title() {
        return title;
    }

    /** One run of it, in words. */
    String describe(int threads) {
        String who = isMirrorMaker() ? title : label() + " producer";
        return who + ", " + Words.count(threads, isMirrorMaker() ? "stream" : "thread");
    }
}
