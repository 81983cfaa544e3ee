package dev.millrace.weather;

import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * How the mirror of a climate runs.
 *
 * @param processes that share the partitions
 * @param threads of each process
 * @param bufferMegabytes the {@code buffer.memory} of each process
 * @param prefix of topics on the target; empty for none
 * @param groupProtocol of its consumers
 * @param hasGroups whether it keeps the offsets of a consumer group on the target
 * @param hasSettings whether it keeps the settings of topics on the target as on the source
 * @param onRefused what it does with records that the target refuses
 */
record MirrorKind(
        int processes,
        int threads,
        String mode,
        String resume,
        int bufferMegabytes,
        String prefix,
        String groupProtocol,
        boolean hasGroups,
        boolean hasSettings,
        String onRefused) {
    static final List<String> MODES = List.of("auto", "batches", "records", "consumer");
    static final List<String> RESUMES = List.of("exact", "exactly-once", "at-least-once");

    private static final String CONSUMER = "consumer";
    private static final String AT_LEAST_ONCE = "at-least-once";
    private static final String EXACTLY_ONCE = "exactly-once";
    private static final List<String> DRAWN_MODES =
            List.of("auto", "auto", "auto", "batches", "batches", "records", CONSUMER);
    private static final List<String> DRAWN_RESUMES = List.of("exact", EXACTLY_ONCE);
    private static final String STOP = "stop";
    private static final String DEAD_LETTER = "dead-letter";
    private static final List<String> REFUSALS = List.of(STOP, "skip", DEAD_LETTER);
    private static final List<Integer> BUFFERS = List.of(4, 8, 16, 32);

    /**
     * What somebody has chosen instead of the seed.
     *
     * @param mode null for any
     * @param resume null for any
     * @param hasGroups true if it must keep offsets of groups
     * @param hasSettings true if it must keep settings of topics
     */
    record Wanted(String mode, String resume, boolean hasGroups, boolean hasSettings) {
        static final Wanted ANYTHING = copies(null, null);

        static Wanted copies(String mode, String resume) {
            return new Wanted(mode, resume, false, false);
        }

        /** Whether the mirror refuses these two together. */
        boolean isContradiction() {
            return CONSUMER.equals(mode) && resume != null && !AT_LEAST_ONCE.equals(resume);
        }
    }

    /** Draws as often, whatever is wanted, so that what is drawn afterwards stays the same. */
    static MirrorKind draw(Random random, Wanted wanted) {
        int processes = 1 + random.nextInt(3);
        int threads = 1 + random.nextInt(3);
        String mode = Chance.any(DRAWN_MODES, random);
        String resume = Chance.any(DRAWN_RESUMES, random);
        int buffer = Chance.any(BUFFERS, random);
        String prefix = random.nextBoolean() ? "copy." : "";
        String groupProtocol = random.nextInt(4) == 0 ? "consumer" : "classic";
        boolean hasGroups = random.nextBoolean();
        boolean hasSettings = random.nextBoolean();
        String onRefused = Chance.any(REFUSALS, random);
        if (wanted.resume != null) {
            resume = wanted.resume;
            if (mode.equals(CONSUMER)) {
                mode = "auto";
            }
        }
        if (wanted.mode != null) {
            mode = wanted.mode;
        }
        return new MirrorKind(
                processes,
                threads,
                mode,
                mode.equals(CONSUMER) ? AT_LEAST_ONCE : resume,
                buffer,
                prefix,
                groupProtocol,
                hasGroups || wanted.hasGroups,
                hasSettings || wanted.hasSettings,
                resume.equals(EXACTLY_ONCE) ? STOP : onRefused);
    }

    int bufferBytes() {
        return bufferMegabytes * 1_000_000;
    }

    /** Whether it makes large batches of small ones. */
    boolean mergesBatches() {
        return !mode.equals("batches");
    }

    /** Whether Kafka's consumers read for it, which do not tell how records were compressed. */
    boolean isThroughConsumers() {
        return mode.equals(CONSUMER);
    }

    /** Whether its consumers tell the brokers how long their session is; with the newer protocol brokers tell them. */
    boolean choosesSession() {
        return groupProtocol.equals("classic");
    }

    /** Whether it goes on after a record that the target refuses. */
    boolean leavesOut() {
        return !onRefused.equals(STOP);
    }

    boolean keepsDeadLetters() {
        return onRefused.equals(DEAD_LETTER);
    }

    boolean isExactlyOnce() {
        return resume.equals(EXACTLY_ONCE);
    }

    boolean isAtLeastOnce() {
        return resume.equals(AT_LEAST_ONCE);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d x mirror (threads %d, mode %s, resume %s, buffer %d MB, protocol %s%s%s%s, on refused %s)",
                processes,
                threads,
                mode,
                resume,
                bufferMegabytes,
                groupProtocol,
                prefix.isEmpty() ? "" : ", prefix " + prefix,
                hasGroups ? ", groups" : "",
                hasSettings ? ", settings" : "",
                onRefused);
    }
}
