package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.progress.GroupOffsets;
import dev.millrace.mirror.progress.MirrorGroup;
import dev.millrace.mirror.run.MirrorPlan;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.TopicPlan;
import dev.millrace.mirror.verify.PartitionResult;
import dev.millrace.mirror.verify.TopicResult;
import dev.millrace.mirror.verify.Verification;
import dev.millrace.mirror.verify.VerifyResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Moves from the source to the target while a mirror runs: checks the mirror, waits until nobody writes at the source
 * and all is copied, moves the groups, and compares. Only the move of the groups changes something. Each step may be
 * done again, so a run that has ended early is simply started again.
 *
 * <p><b>Threads:</b> one thread calls {@link #run}, once.
 */
public final class Cutover {
    private static final long SAMPLE = 1_000;
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** A running mirror writes every 5 s where the records are at the target; for the process before it, within 30 s. */
    private static final long EXACT_NANOS = TimeUnit.SECONDS.toNanos(40);
    /** How often a step that waits tells who writes, and looks whether the mirror still runs. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final MirrorConfig config;
    private final Options options;
    private final CutoverReport report;
    /** The groups whose offsets are written. */
    private final Set<String> moved = new TreeSet<>();

    /**
     * What an operator chooses.
     *
     * @param isToBeDone whether to wait and to move groups; otherwise each step only says what it finds
     * @param quiet for how long no partition may grow before the source counts as written to by nobody
     * @param giveUpAfter how long to wait for writers and the mirror, and then for the groups
     * @param again how many records a group may see again in a partition
     * @param verify how much is compared
     */
    public record Options(boolean isToBeDone, Duration quiet, Duration giveUpAfter, long again, VerifyExtent verify) {}

    public Cutover(MirrorConfig config, Options options, CutoverReport report) {
        this.config = config;
        this.options = options;
        this.report = report;
    }

    /**
     * Does the steps in order. Blocks until the last is done.
     *
     * @throws MirrorException naming why it has stopped, and which groups are moved by then
     */
    public void run() {
        try (Admin source = Clusters.connect("source", DerivedConfigs.admin(config.consumer()));
                Admin target = Clusters.connect("target", DerivedConfigs.admin(config.producer()))) {
            new Steps(source, target).run();
        } catch (KafkaException e) {
            throw stopped(MirrorException.failed("The cutover has stopped", e));
        } catch (MirrorException e) {
            throw stopped(e);
        }
    }

    private MirrorException stopped(MirrorException why) {
        return moved.isEmpty()
                ? why
                : MirrorException.failed(why.getMessage() + ". Already moved: " + Words.list(moved, "group"));
    }

    private final class Steps {
        private final Admin source;
        private final Admin target;
        private final String sourceId;
        private final String targetId;
        private final String group;
        /** What the source had when nobody wrote. */
        private SourceRest cut;

        Steps(Admin source, Admin target) {
            this.source = source;
            this.target = target;
            this.sourceId = Clusters.clusterId(source, config.consumer());
            this.targetId = Clusters.clusterId(target, config.producer());
            this.group = MirrorGroup.of(config, sourceId, targetId);
        }

        void run() {
            report.onStep(1, "check");
            checkMirror();
            Optional<LastOffsets> groups =
                    config.policies().groups().names().map(names -> LastOffsets.ask(config, source, target, Set.of()));
            verify(options.verify() == VerifyExtent.NONE ? VerifyExtent.NONE : VerifyExtent.SAMPLE);
            report.onStep(2, "wait until nobody writes at the source, and all is copied");
            if (!options.isToBeDone()) {
                tellRest();
                report.onStep(3, "move the groups");
                tellGroups(groups.map(first -> LastOffsets.ask(config, source, target, first.groups())));
                return;
            }
            cut = awaitNone();
            report.onStep(3, "move the groups");
            Optional<LastOffsets> last = groups.map(first -> move(first.groups()));
            tellGroups(last);
            report.onStep(4, "verify");
            verify(options.verify());
            report.onStep(5, "check that nobody has come back");
            requireSame(last);
            report.onStep(6, "done");
            report.tell("start the " + (groups.isPresent() ? "consumers and then the " : "")
                    + "producers at the target; the mirror still runs, and may be stopped");
        }

        private void checkMirror() {
            MirrorPlan plan = MirrorPlan.of(config);
            plan.obstacle().ifPresent(why -> {
                throw MirrorException.failed("The mirror would not start again: " + why);
            });
            plan.topics().stream()
                    .filter(topic -> !topic.isPossible())
                    .findFirst()
                    .ifPresent(topic -> {
                        throw MirrorException.failed("Topic " + topic.topic()
                                + " is not mirrored, but --topics matches it: " + String.join("; ", topic.notes()));
                    });
            List<String> missing = plan.topics().stream()
                    .filter(topic -> !topic.isThere())
                    .map(TopicPlan::topic)
                    .toList();
            if (!missing.isEmpty()) {
                throw MirrorException.failed("The target does not have all partitions of "
                        + Words.list(missing, "topic") + " yet. The mirror adds them while it runs");
            }
            requireMirror();
            report.tell("the mirror runs: " + mirrorGroup() + " has members");
            report.tell("the target has all partitions of "
                    + Words.count(plan.topics().size(), "topic"));
        }

        private String mirrorGroup() {
            return "group " + group + " on the " + (config.isExactlyOnce() ? "target" : "source");
        }

        private void requireMirror() {
            Admin cluster = config.isExactlyOnce() ? target : source;
            if (!GroupOffsets.hasMembers(cluster, group)) {
                throw MirrorException.failed("The mirror does not run: " + mirrorGroup()
                        + " has no members. Start it, so" + " that it copies the rest");
            }
        }

        private void verify(VerifyExtent extent) {
            if (extent == VerifyExtent.NONE) {
                report.tell("nothing is compared: --verify none");
                return;
            }
            OptionalLong sample = extent == VerifyExtent.SAMPLE ? OptionalLong.of(SAMPLE) : OptionalLong.empty();
            VerifyResult result = new Verification(
                            config,
                            sample,
                            (compared, partitions, records) -> report.onProgress(Words.number(compared) + " of "
                                    + Words.count(partitions, "partition") + " compared, "
                                    + Words.count(records, "record") + " read"))
                    .run();
            requireNone(result.different(), "The target differs from the source in ");
            requireNone(result.unclear(), "The target cannot be compared with the source in ");
            report.tell(Words.count(result.sum(PartitionResult::same), "record") + " compared, the same"
                    + (sample.isPresent() ? "; the last " + Words.number(SAMPLE) + " of each partition, at most" : ""));
        }

        private void requireNone(List<TopicResult> topics, String what) {
            if (!topics.isEmpty()) {
                throw MirrorException.failed(what
                        + Words.list(topics.stream().map(TopicResult::topic).toList(), "topic")
                        + "; 'mirror verify" + (options.verify() == VerifyExtent.WHOLE ? "" : " --sample " + SAMPLE)
                        + "' tells how, and --verify none compares nothing");
            }
        }

        private SourceRest rest() {
            return SourceRest.ask(config, source, target, sourceId, targetId);
        }

        private void tellRest() {
            SourceRest before = rest();
            LockSupport.parkNanos(PAUSE_NANOS);
            SourceRest now = rest();
            report.tell(describe(now.grownSince(before), 0, now));
            tellWriters(now.grownSince(before), now);
        }

        private void tellWriters(Set<TopicPartition> grown, SourceRest rest) {
            Set<TopicPartition> written = new TreeSet<>(Clusters.PARTITION_ORDER);
            written.addAll(grown);
            written.addAll(rest.open());
            if (!written.isEmpty()) {
                new SourceWriters(source).describe(written).forEach(report::tell);
            }
        }

        /** Returns what the source had when it was quiet. */
        private SourceRest awaitNone() {
            long begun = System.nanoTime();
            long quietSince = begun;
            long looked = begun - LOOK_NANOS;
            Set<TopicPartition> grownLast = Set.of();
            Optional<SourceRest> last = Optional.empty();
            while (true) {
                String state;
                try {
                    SourceRest now = rest();
                    long nanos = System.nanoTime();
                    Set<TopicPartition> grown = last.map(now::grownSince).orElse(Set.of());
                    if (last.isEmpty() || !grown.isEmpty()) {
                        quietSince = nanos;
                        grownLast = grown;
                    }
                    last = Optional.of(now);
                    if (now.isNone() && nanos - quietSince >= options.quiet().toNanos()) {
                        report.tell("nobody has written for " + options.quiet().toSeconds() + " s, and the mirror has"
                                + " committed all: " + Words.count(now.ends().size(), "partition"));
                        return now;
                    }
                    state = describe(grownLast, TimeUnit.NANOSECONDS.toSeconds(nanos - quietSince), now);
                    report.onProgress(state);
                    if (nanos - looked >= LOOK_NANOS) {
                        looked = nanos;
                        requireMirror();
                        tellWriters(grownLast, now);
                    }
                } catch (RetriableException e) {
                    state = "a cluster does not answer: " + MirrorException.reason(e);
                    report.onProgress(state);
                }
                pause(begun, state);
            }
        }

        /** @param grown the partitions that have grown last, so many seconds ago */
        private String describe(Set<TopicPartition> grown, long secondsAgo, SourceRest rest) {
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

        private String named(Collection<TopicPartition> partitions) {
            return Words.list(partitions.stream().map(TopicPartition::toString).toList(), "partition");
        }

        /** Waits a moment, unless it has waited for too long. */
        private void pause(long begunNanos, String state) {
            if (System.nanoTime() - begunNanos > options.giveUpAfter().toNanos()) {
                throw MirrorException.failed("After " + options.giveUpAfter().toSeconds() + " s (--give-up-after) "
                        + state + ". Nothing was changed, and the mirror goes on");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }

        /** Waits until the groups have left the source and can go on exactly; moves them. */
        private LastOffsets move(Set<String> first) {
            long begun = System.nanoTime();
            long leftSince = begun;
            long looked = begun;
            Set<String> known = new TreeSet<>(first);
            while (true) {
                String state;
                try {
                    LastOffsets offsets = LastOffsets.ask(config, source, target, known);
                    boolean areAsked = !known.addAll(offsets.groups());
                    Optional<String> obstacle = offsets.obstacle();
                    Optional<String> inexact = offsets.inexact(options.again());
                    if (obstacle.isPresent()) {
                        leftSince = System.nanoTime();
                    } else if (inexact.isEmpty()
                            && areAsked
                            && isStillCut()
                            && offsets.write(source, target, moved::add)) {
                        return offsets;
                    } else if (inexact.isPresent() && System.nanoTime() - leftSince > EXACT_NANOS) {
                        throw MirrorException.failed(
                                inexact.get() + ". No group was moved. Narrow --groups, or allow it with --again N");
                    }
                    state = obstacle.or(() -> inexact).orElse("a group has just committed at the source");
                    if (System.nanoTime() - looked >= LOOK_NANOS) {
                        looked = System.nanoTime();
                        requireMirror();
                    }
                } catch (RetriableException e) {
                    state = "a cluster does not answer: " + MirrorException.reason(e);
                }
                report.onProgress(state);
                pause(begun, state);
            }
        }

        /** If somebody has written while groups were waited for, waits again, for what the mirror then copies. */
        private boolean isStillCut() {
            if (rest().ends().equals(cut.ends())) {
                return true;
            }
            report.tell("somebody has written to the source again");
            cut = awaitNone();
            return false;
        }

        private void tellGroups(Optional<LastOffsets> groups) {
            if (groups.isEmpty()) {
                report.tell("no group is moved: without --groups the mirror does not keep their offsets");
                return;
            }
            groups.get().describe().forEach(report::tell);
            if (!options.isToBeDone()) {
                groups.get().obstacle().ifPresent(report::tell);
                groups.get().inexact(options.again()).ifPresent(report::tell);
            }
        }

        /** Makes sure that the cut is still where it was. */
        private void requireSame(Optional<LastOffsets> last) {
            if (!rest().ends().equals(cut.ends())) {
                throw MirrorException.failed("Somebody has written to the source since step 2, or created or deleted a"
                        + " topic there. The mirror copies what was written. Stop the writer, and start the cutover"
                        + " again");
            }
            last.flatMap(before -> LastOffsets.ask(config, source, target, before.groups())
                            .changeSince(before))
                    .ifPresent(change -> {
                        throw MirrorException.failed(
                                change + ". Stop its consumers there, and start the cutover again");
                    });
        }
    }
}
