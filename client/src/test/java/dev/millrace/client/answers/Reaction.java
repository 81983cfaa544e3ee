package dev.millrace.client.answers;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * All that a program sees of our producer after an error, in the order of its calls. A word is a call that succeeds,
 * {@code record} being a send, its future and its callback; {@code call!Class} fails with that exception, and {@code E}
 * stands for the one that the {@link DeliberateDifference} tells.
 */
enum Reaction {
    /** Each record for itself. */
    RECORD_FAILS("record!E record", "record!E record!E"),

    RECORD_WAITS("record record", "record!E record!E"),

    INIT_CAN_BE_REPEATED(
            "init!E init TRANSACTION TRANSACTION",
            "init!E init!E begin!IllegalStateException begin!IllegalStateException"),

    INIT_IS_FATAL("init!E init!KafkaException begin!KafkaException begin!KafkaException"),

    INIT_IS_FENCED("init!E init!E begin!E begin!E"),

    REQUEST_IS_REPEATED("init TRANSACTION TRANSACTION", "init UNTIL CALL!E abort UNTIL CALL!E abort"),

    /** As above, but the abort must wait for the request as well. */
    REQUEST_IS_REPEATED_AND_AWAITED(
            "init TRANSACTION TRANSACTION", "init UNTIL CALL!E abort!E begin!IllegalStateException"),

    CAN_BE_ABORTED("init UNTIL CALL!E abort TRANSACTION", "init UNTIL CALL!E abort UNTIL CALL!E abort"),

    IS_FATAL("init UNTIL CALL!E abort!KafkaException begin!KafkaException"),

    IS_FENCED("init UNTIL CALL!E abort!E begin!E");

    private static final List<String> TRANSACTION = List.of("begin", "record", "offsets", "commit");

    private final String once;
    private final String always;

    Reaction(String onceAndAlways) {
        this(onceAndAlways, onceAndAlways);
    }

    Reaction(String once, String always) {
        this.once = once;
        this.always = always;
    }

    /** As {@link Scenario#play} returns it, when the answers at the site have the error once or always. */
    List<String> observed(ErrorSite site, String told, boolean isAlways) {
        String untilCall = TRANSACTION.stream()
                .takeWhile(word -> !word.equals(site.call()) && !word.equals("commit"))
                .collect(Collectors.joining(" "));
        String script = (isAlways ? always : once)
                .replace("TRANSACTION", String.join(" ", TRANSACTION))
                .replace("UNTIL CALL", untilCall + " " + site.call());
        List<String> lines = new ArrayList<>();
        for (String word : script.split(" ", -1)) {
            String[] parts = word.split("!", -1);
            String failure = parts.length == 1 ? null : parts[1].equals("E") ? told : parts[1];
            if (parts[0].equals("record")) {
                String outcome = failure == null ? "ok" : failure;
                lines.add("send: ok");
                lines.add("record: future " + outcome + ", callback " + outcome);
            } else {
                lines.add(parts[0] + (failure == null ? ": ok" : ": throws " + failure));
            }
        }
        return lines;
    }
}
