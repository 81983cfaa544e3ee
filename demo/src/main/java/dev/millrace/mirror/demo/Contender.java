package dev.millrace.mirror.demo;

import dev.millrace.mirror.config.CopyMode;
import dev.millrace.mirror.config.ProducerKind;
import dev.millrace.mirror.config.ResumeMode;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A mirror that the demo can run: this one with either producer and in any mode, or another altogether. */
enum Contender {
    STOCK(ContenderName.STOCK, CopyMode.CONSUMER, "stock producer"),
    MILLRACE_CONSUMER(ContenderName.MILLRACE, CopyMode.CONSUMER, "Millrace, consumer"),
    MILLRACE_AUTO(ContenderName.MILLRACE, CopyMode.AUTO, "Millrace, auto"),
    MILLRACE_RECORDS(ContenderName.MILLRACE, CopyMode.RECORDS, "Millrace, records"),
    MILLRACE_BATCHES(ContenderName.MILLRACE, CopyMode.BATCHES, "Millrace, batches"),
    /** With records and progress in one transaction on the target. */
    MILLRACE_EXACTLY_ONCE(ContenderName.MILLRACE_EXACTLY_ONCE, CopyMode.AUTO, "Millrace, exactly once"),
    /** No mirror: {@link ReplayRun}. */
    REPLAY(ContenderName.REPLAY, null, "Ready batches"),
    /** {@code kafka.tools.MirrorMaker}, with its own producer and class path. */
    MIRRORMAKER1(ContenderName.MIRRORMAKER1, null, "MirrorMaker 1"),
    /** The same, with the settings of this mirror. */
    MIRRORMAKER1_TUNED(ContenderName.MIRRORMAKER1_TUNED, null, "MirrorMaker 1, tuned"),
    /** {@code org.apache.kafka.connect.mirror.MirrorMaker}, with its own class path. */
    MIRRORMAKER2(ContenderName.MIRRORMAKER2, null, "MirrorMaker 2");

    /** Of MirrorMaker 2; it is not run with fewer and with more. */
    private static final int MOST_TASKS = 4;

    private final ContenderName contenderName;
    private final Optional<CopyMode> mode;
    private final String title;

    /**
     * @param mode of this mirror; null for others
     */
    Contender(ContenderName contenderName, CopyMode mode, String title) {
        this.contenderName = contenderName;
        this.mode = Optional.ofNullable(mode);
        this.title = title;
    }

    /** The name on the command line, which contenders that differ only in their mode share. */
    ContenderName contenderName() {
        return contenderName;
    }

    /** The mode of this mirror; nothing of others. */
    Optional<CopyMode> mode() {
        return mode;
    }

    /** The name in tables, with the mode of Millrace. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The options of {@code mirror run} that make it this contender; none of others. */
    List<String> options() {
        if (mode.isEmpty()) {
            return List.of();
        }
        ProducerKind producer = this == STOCK ? ProducerKind.STOCK : ProducerKind.MILLRACE;
        List<String> options = new ArrayList<>(
                List.of("--producer=" + producer, "--mode=" + mode.get().label()));
        if (this == MILLRACE_EXACTLY_ONCE) {
            options.add("--resume=" + ResumeMode.EXACTLY_ONCE);
        }
        return options;
    }

    boolean isMirrorMaker() {
        return isMirrorMaker1() || isMirrorMaker2();
    }

    /** Whether it does not keep a record's partition, either. */
    boolean isMirrorMaker1() {
        return this == MIRRORMAKER1 || this == MIRRORMAKER1_TUNED;
    }

    boolean isMirrorMaker2() {
        return this == MIRRORMAKER2;
    }

    /** Whether it runs once a round, and not with each number of threads. */
    boolean runsOnce() {
        return isMirrorMaker2() || this == REPLAY;
    }

    /** Whether it creates the target's topic as the source has it. */
    boolean createsTopic() {
        return mode.isPresent(); // MirrorMaker 1 would not create as many partitions
    }

    /** With how many threads, streams or tasks it runs when so many threads are asked for. */
    int threads(int asked) {
        return this == REPLAY ? 1 : isMirrorMaker2() ? Math.min(MOST_TASKS, asked) : asked;
    }

    /** The name in the legend of a chart. */
    String title() {
        return title;
    }

    /** Describes one run of it. */
    String describe(int threads) {
        String unit = isMirrorMaker1() ? "stream" : isMirrorMaker2() ? "task" : "thread";
        return title + ", " + Words.count(threads, unit);
    }
}
