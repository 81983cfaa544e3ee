package dev.millrace.mirror.demo;

import dev.millrace.mirror.cli.OptionValues;
import dev.millrace.mirror.config.CopyMode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;

/** The names of contenders on the command line. */
enum ContenderName {
    STOCK,
    /** A contender in each mode that the user wants. */
    MILLRACE,
    MILLRACE_EXACTLY_ONCE,
    REPLAY,
    MIRRORMAKER1,
    MIRRORMAKER1_TUNED,
    MIRRORMAKER2;

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The same as {@link #label}, which picocli prints. */
    @Override
    public String toString() {
        return label();
    }

    /** The contenders of this name. Only {@link #MILLRACE} has one for each of the modes. */
    List<Contender> contenders(List<CopyMode> modes) {
        List<Contender> all = Arrays.stream(Contender.values())
                .filter(contender -> contender.contenderName() == this)
                .toList();
        if (this != MILLRACE) {
            return all;
        }
        return modes.stream()
                .flatMap(mode ->
                        all.stream().filter(contender -> contender.mode().orElseThrow() == mode))
                .toList();
    }

    /** Converts names; the errors of picocli's own converter would name the Java constants. */
    static final class Parser implements ITypeConverter<ContenderName> {
        @Override
        public ContenderName convert(String text) {
            return OptionValues.parse(values(), text);
        }
    }
}
