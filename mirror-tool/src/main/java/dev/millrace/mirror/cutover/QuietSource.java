package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/** Waits until nobody writes to the source and the mirror has copied all, and tells what it waits for. */
final class QuietSource {
    private final BothClusters clusters;
    private final CutoverOptions options;
    private final CutoverReport report;
    private final SourceWriters writers;
    /** What was said about aborted transactions. */
    private final Set<String> told = new HashSet<>();

    QuietSource(BothClusters clusters, CutoverOptions options, CutoverReport report) {
        this.clusters = clusters;
        this.options = options;
        this.report = report;
        this.writers = new SourceWriters(clusters.source());
    }

    /** Tells what it would wait for now. */
    void tell() {
        SourceRest before = SourceRest.ask(clusters);
        Patience.pause();
        SourceRest now = SourceRest.ask(clusters);
        report.tell(describe(now.grownSince(before), 0, now));
        tellWriters(now.grownSince(before), now);
    }

    /**
     * Returns what the source had when it was quiet.
     *
     * @throws MirrorException if the mirror ends, or it takes too long
     */
    SourceRest await() {
        Patience patience = new Patience(options.giveUpAfter(), Patience.NO_GROUP_MOVED);
        long quietSince = System.nanoTime();
        Set<TopicPartition> grownLast = Set.of();
        Optional<SourceRest> last = Optional.empty();
        while (true) {
            String state;
            try {
                SourceRest now = SourceRest.ask(clusters);
                long nanos = System.nanoTime();
                Set<TopicPartition> grown = last.map(now::grownSince).orElse(Set.of());
                if (last.isEmpty() || !grown.isEmpty()) {
                    quietSince = nanos;
                    grownLast = grown;
                }
                last = Optional.of(now);
                boolean isQuiet = nanos - quietSince >= options.quiet().toNanos();
                if (isQuiet && now.isNone()) {
                    report.tell("nobody has written for " + options.quiet().toSeconds() + " s, and the mirror has"
                            + " committed all: " + Words.count(now.ends().size(), "partition"));
                    return now;
                }
                if (isQuiet && !now.open().isEmpty() && options.abortsTransactions()) {
                    writers.abortTransactions(now.open()).stream()
                            .filter(told::add)
                            .forEach(report::tell);
                }
                state = describe(grownLast, TimeUnit.NANOSECONDS.toSeconds(nanos - quietSince), now);
                report.onProgress(state);
                if (patience.isTimeToLook()) {
                    clusters.requireMirror();
                    tellWriters(grownLast, now);
                }
            } catch (RetriableException e) {
                state = "a cluster does not answer: " + MirrorException.reason(e);
                report.onProgress(state);
            }
            patience.pauseUnlessOver(state);
        }
    }

    private void tellWriters(Set<TopicPartition> grown, SourceRest rest) {
        Set<TopicPartition> written = new TreeSet<>(Clusters.PARTITION_ORDER);
        written.addAll(grown);
        written.addAll(rest.open());
        if (!written.isEmpty()) {
            writers.describe(written).forEach(report::tell);
        }
    }

    /** @param grown the partitions that have grown last, so many seconds ago */
    private static String describe(Set<TopicPartition> grown, long secondsAgo, SourceRest rest) {
        List<String> words = new ArrayList<>();
        if (!grown.isEmpty()) {
            words.add(named(grown)
                    + (secondsAgo > 0
                            ? " grew " + secondsAgo + " s ago"
                            : grown.size() == 1 ? " still grows" : " still grow"));
        }
        if (!rest.open().isEmpty()) {
            words.add("a transaction is open in " + named(rest.open()));
        }
        words.add(
                rest.left().isEmpty()
                        ? "all is copied and committed"
                        : Words.count(rest.sum(), "offset") + " to copy of "
                                + named(rest.left().keySet()));
        return String.join(", ", words);
    }

    private static String named(Collection<TopicPartition> partitions) {
        return Words.list(partitions.stream().map(TopicPartition::toString).toList(), "partition");
    }
}
