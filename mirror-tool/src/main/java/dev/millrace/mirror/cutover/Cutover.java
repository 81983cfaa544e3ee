package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.groups.OffsetMapReversal.Ends;
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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Moves from the source to the target while a mirror runs: checks the mirror, keeps writers out if asked to, waits until
 * nobody writes at the source and all is copied, moves the groups, and compares. Each step may be done again, so a run
 * that has ended early is simply started again; what it must know then is in {@link CutoverState}.
 *
 * <p><b>Threads:</b> one thread calls one method, once.
 */
public final class Cutover {
    private static final long SAMPLE = 1_000;
    /** A running mirror writes every 5 s where the records are at the target; for the process before it, within 30 s. */
    private static final Duration EXACT = Duration.ofSeconds(40);

    private final MirrorConfig config;
    private final MirrorConfig opposite;
    private final CutoverOptions options;
    private final CutoverReport report;
    /** The groups whose offsets are written. */
    private final Set<String> moved = new TreeSet<>();

    private final Map<String, Duration> steps = new LinkedHashMap<>();
    private long stepBegunNanos;

    /** @param opposite the configuration of a mirror in the other direction */
    public Cutover(MirrorConfig config, MirrorConfig opposite, CutoverOptions options, CutoverReport report) {
        this.config = config;
        this.opposite = opposite;
        this.options = options;
        this.report = report;
    }

    /**
     * Does the steps in order. Blocks until the last is done.
     *
     * @throws MirrorException naming why it has stopped, and which groups are moved by then
     */
    public CutoverResult run() {
        try (BothClusters clusters = BothClusters.connect(config);
                CutoverState state = new CutoverState(clusters)) {
            if (!options.isToBeDone()) {
                state.read();
                return new Steps(clusters, state).look();
            }
            state.create();
            return OnlyCutover.run(clusters, report, () -> {
                state.read();
                return new Steps(clusters, state).run();
            });
        } catch (KafkaException e) {
            throw stopped(MirrorException.failed("The cutover has stopped", e));
        } catch (MirrorException e) {
            throw stopped(e);
        }
    }

    /**
     * Takes back the fence, so that the writers can go on at the source, and leaves the mirror running. Blocks until
     * that is done.
     *
     * @throws MirrorException if the target has got records of its own
     */
    public void undo() {
        try (BothClusters clusters = BothClusters.connect(config);
                CutoverState state = new CutoverState(clusters)) {
            state.read();
            if (state.isEmpty()) {
                report.tell("there is nothing to take back: no cutover has changed anything");
                return;
            }
            OnlyCutover.run(clusters, report, () -> {
                        state.read();
                        requireNothingOfItsOwn(clusters, state.cut());
                        List<String> allowed = new Fence(clusters.source(), state).lower();
                        state.setCut(Map.of());
                        return allowed;
                    })
                    .forEach(denied -> report.tell("denied no longer: " + denied));
            report.tell("the mirror goes on; groups that were moved go on at the source where they were");
        } catch (KafkaException e) {
            throw MirrorException.failed("The cutover cannot be undone", e);
        }
    }

    /** Records that only the target has would be left behind. */
    private static void requireNothingOfItsOwn(BothClusters clusters, Map<TopicPartition, Ends> cut) {
        Map<TopicPartition, Long> sourceEnds =
                Clusters.offsetsOfLed(clusters.source(), cut.keySet(), OffsetSpec.latest());
        Map<TopicPartition, Long> targetEnds = targetEnds(clusters, cut.keySet());
        cut.forEach((partition, ends) -> {
            if (sourceEnds.getOrDefault(partition, -1L) == ends.source()
                    && targetEnds.getOrDefault(partition, -1L) > ends.target()) {
                throw MirrorException.failed("Since the cut, somebody has written "
                        + clusters.config().names().onTarget(partition) + " at the target, and the source does not have"
                        + " these records: a way back that is kept has them, 'mirror run --back' and 'mirror cutover"
                        + " --back'. If a mirror that was rewound has written them, delete topic "
                        + CutoverState.topicName(clusters.group()) + " on the target, and start the cutover again");
            }
        });
    }

    private static Map<TopicPartition, Long> targetEnds(BothClusters clusters, Set<TopicPartition> partitions) {
        return clusters.config()
                .names()
                .onSource(Clusters.offsets(
                        clusters.target(), clusters.config().names().onTarget(partitions), OffsetSpec.latest()));
    }

    private MirrorException stopped(MirrorException why) {
        return moved.isEmpty()
                ? why
                : MirrorException.failed(why.getMessage() + ". Already moved: " + Words.list(moved, "group"));
    }

    private final class Steps {
        private final BothClusters clusters;
        private final CutoverState state;
        private final Fence fence;
        private final QuietSource quiet;
        /** What the source had when nobody wrote. */
        private SourceRest cut;

        private Optional<LastOffsets> groups = Optional.empty();
        private long compared;

        Steps(BothClusters clusters, CutoverState state) {
            this.clusters = clusters;
            this.state = state;
            this.fence = new Fence(clusters.source(), state);
            this.quiet = new QuietSource(clusters, options, report);
        }

        /** Says what each step finds now. */
        CutoverResult look() {
            check();
            begin(2, "stop the writers");
            tellFence();
            begin(3, "wait until nobody writes at the source, and all is copied");
            quiet.tell();
            begin(4, "move the groups");
            groups = groups.map(first -> LastOffsets.ask(clusters, first.groups()));
            tellGroups();
            groups.flatMap(LastOffsets::obstacle).ifPresent(report::tell);
            groups.flatMap(of -> of.inexact(options.again())).ifPresent(report::tell);
            endStep();
            return result();
        }

        CutoverResult run() {
            check();
            begin(2, "stop the writers");
            raiseFence();
            begin(3, "wait until nobody writes at the source, and all is copied");
            awaitCut();
            begin(4, "move the groups");
            groups = groups.map(first -> move(first.groups()));
            tellGroups();
            begin(5, "verify");
            verify(options.verify());
            requireSame();
            begin(6, "done");
            finish();
            endStep();
            return result();
        }

        private void begin(int number, String name) {
            endStep();
            stepBegunNanos = System.nanoTime();
            steps.put(name, Duration.ZERO);
            report.onStep(number, name);
        }

        private void endStep() {
            steps.entrySet().stream()
                    .skip(Math.max(0, steps.size() - 1))
                    .forEach(last -> last.setValue(Duration.ofNanos(System.nanoTime() - stepBegunNanos)));
        }

        private CutoverResult result() {
            return new CutoverResult(
                    clusters.sourceId(),
                    clusters.targetId(),
                    clusters.group(),
                    steps,
                    cut == null ? Map.of() : state.cut(),
                    groups.map(of -> of.plan().positions()).orElse(List.of()),
                    compared,
                    options.verify());
        }

        private void check() {
            begin(1, "check");
            checkMirror();
            groups = config.policies().groups().names().map(names -> LastOffsets.ask(clusters, Set.of()));
            verify(options.verify() == VerifyExtent.NONE ? VerifyExtent.NONE : VerifyExtent.SAMPLE);
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
            clusters.requireMirror();
            report.tell("the mirror runs: " + clusters.describeGroup() + " has members");
            report.tell("the target has all partitions of "
                    + Words.count(plan.topics().size(), "topic"));
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
                            (soFar, partitions, records) -> report.onProgress(Words.number(soFar) + " of "
                                    + Words.count(partitions, "partition") + " compared, "
                                    + Words.count(records, "record") + " read"))
                    .run();
            requireNone(result.different(), "The target differs from the source in ");
            requireNone(result.unclear(), "The target cannot be compared with the source in ");
            compared = result.sum(PartitionResult::same);
            report.tell(Words.count(compared, "record") + " compared, the same"
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

        // ---- writers ----

        private void tellFence() {
            report.tell(
                    options.fence().isPresent()
                            ? "they would be denied writing by ACLs"
                            : "they are not stopped: stop them yourself (--fence none)");
            fence.describe().forEach(denied -> report.tell("denied by an earlier run: " + denied));
        }

        private void raiseFence() {
            if (options.fence().isEmpty()) {
                tellFence();
                return;
            }
            Set<String> topics =
                    MatchingTopics.ask(clusters.source(), config).requireSome().mirrored();
            require("deny writing to " + Words.list(topics, "topic") + " at the source");
            List<String> denied = fence.raise(topics, options.fence().get());
            denied.forEach(who -> report.tell("denied: " + who));
            if (denied.isEmpty()) {
                report.tell("no ACL allows anybody to write; only super users could");
            }
        }

        private void require(String change) {
            if (!report.mayChange(change)) {
                throw MirrorException.failed("Stopped before it would " + change + ". Start it again to go on");
            }
        }

        /** Where the target ended at the cut is kept: later it has records of its own. */
        private void awaitCut() {
            cut = quiet.await();
            Map<TopicPartition, Ends> known = state.cut();
            Map<TopicPartition, Long> targetEnds =
                    targetEnds(clusters, cut.ends().keySet());
            Map<TopicPartition, Ends> ends = new HashMap<>();
            cut.ends().forEach((partition, end) -> {
                Ends before = known.get(partition);
                ends.put(
                        partition,
                        before != null && before.source() == end ? before : new Ends(end, targetEnds.get(partition)));
            });
            state.setCut(ends);
        }

        // ---- groups ----

        /** Waits until the groups have left the source and can go on exactly; moves them. */
        private LastOffsets move(Set<String> first) {
            require("move " + Words.list(first, "group") + " to the target");
            Patience patience = new Patience(options.giveUpAfter());
            Patience exact = new Patience(EXACT);
            Set<String> known = new TreeSet<>(first);
            while (true) {
                String waitsFor;
                try {
                    LastOffsets offsets = LastOffsets.ask(clusters, known);
                    boolean areAsked = !known.addAll(offsets.groups());
                    Optional<String> obstacle = offsets.obstacle();
                    Optional<String> inexact = offsets.inexact(options.again());
                    if (obstacle.isPresent()) {
                        exact = new Patience(EXACT);
                    } else if (inexact.isEmpty() && areAsked && isStillCut() && offsets.write(moved::add)) {
                        return offsets;
                    } else if (inexact.isPresent() && exact.isOver()) {
                        throw MirrorException.failed(
                                inexact.get() + ". No group was moved. Narrow --groups, or allow it with --again N");
                    }
                    waitsFor = obstacle.or(() -> inexact).orElse("a group has just committed at the source");
                    if (patience.isTimeToLook()) {
                        clusters.requireMirror();
                    }
                } catch (RetriableException e) {
                    waitsFor = "a cluster does not answer: " + MirrorException.reason(e);
                }
                report.onProgress(waitsFor);
                patience.pauseUnlessOver(waitsFor);
            }
        }

        /** If somebody has written while groups were waited for, waits again, for what the mirror then copies. */
        private boolean isStillCut() {
            if (SourceRest.ask(clusters).ends().equals(cut.ends())) {
                return true;
            }
            report.tell("somebody has written to the source again");
            awaitCut();
            return false;
        }

        private void tellGroups() {
            if (groups.isEmpty()) {
                report.tell("no group is moved: without --groups the mirror does not keep their offsets");
            } else {
                groups.get().describe().forEach(report::tell);
            }
        }

        // ---- the end ----

        /** Makes sure that the cut is still where it was. */
        private void requireSame() {
            if (!SourceRest.ask(clusters).ends().equals(cut.ends())) {
                throw MirrorException.failed("Somebody has written to the source since step 3, or created or deleted a"
                        + " topic there. The mirror copies what was written. Stop the writer, and start the cutover"
                        + " again");
            }
            groups.flatMap(before -> LastOffsets.ask(clusters, before.groups()).changeSince(before))
                    .ifPresent(change -> {
                        throw MirrorException.failed(
                                change + ". Stop its consumers there, and start the cutover again");
                    });
            report.tell("nobody has come back to the source");
        }

        private void finish() {
            if (options.isWayBackKept()) {
                requireNothingOfItsOwn(clusters, state.cut());
                int partitions = new WayBack(clusters, opposite).keep(state.cut());
                report.tell("the way back is kept: 'mirror run --back', with the same options, copies from the cut on,"
                        + " in " + Words.count(partitions, "partition"));
            }
            lowerFenceThere();
            List<String> next = new ArrayList<>();
            if (groups.isPresent()) {
                next.add("the consumers");
            }
            next.add("the producers");
            report.tell("start " + String.join(" and then ", next) + " at the target; "
                    + (options.isWayBackKept()
                            ? "stop the mirror before you start the way back"
                            : "the mirror still runs, and may be stopped"));
        }

        /** The way back ends where the way there has kept the writers out. */
        private void lowerFenceThere() {
            if (config.policies().isWayBack()) {
                BothClusters there = clusters.turned(opposite);
                try (CutoverState before = new CutoverState(there)) {
                    before.read();
                    new Fence(there.source(), before)
                            .lower()
                            .forEach(denied -> report.tell("denied no longer at the target: " + denied));
                }
            }
        }
    }
}
