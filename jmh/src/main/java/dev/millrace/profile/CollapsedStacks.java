package dev.millrace.profile;

import java.util.List;
import java.util.function.Predicate;

/** The stacks that async-profiler recorded, read from its "collapsed" format, which has a line per stack. Immutable. */
record CollapsedStacks(List<Stack> stacks) {
    /**
     * One stack.
     *
     * @param frames outermost first; in profiles of locks and allocations the last one is a type
     * @param weight what was counted there: nanoseconds or bytes
     */
    record Stack(List<String> frames, long weight) {}

    /**
     * Reads lines of the form {@code outer;inner;innermost 123}.
     *
     * @throws IllegalArgumentException quoting a line that is not of this form
     */
    static CollapsedStacks parse(String text) {
        return new CollapsedStacks(text.lines()
                .filter(line -> !line.isBlank())
                .map(CollapsedStacks::parseLine)
                .toList());
    }

    private static Stack parseLine(String line) {
        int end = line.lastIndexOf(' '); // names of frames may contain spaces
        try {
            return new Stack(
                    List.of(line.substring(0, Math.max(0, end)).split(";")),
                    Long.parseLong(line, end + 1, line.length(), 10));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("Not a collapsed stack: " + line, e);
        }
    }

    /** The stacks whose frames satisfy a condition. */
    CollapsedStacks filter(Predicate<List<String>> condition) {
        return new CollapsedStacks(
                stacks.stream().filter(stack -> condition.test(stack.frames())).toList());
    }

    long total() {
        return weightOf(frames -> true);
    }

    /** The weight of all stacks whose frames satisfy a condition. */
    long weightOf(Predicate<List<String>> condition) {
        return stacks.stream()
                .filter(stack -> condition.test(stack.frames()))
                .mapToLong(Stack::weight)
                .sum();
    }
}
