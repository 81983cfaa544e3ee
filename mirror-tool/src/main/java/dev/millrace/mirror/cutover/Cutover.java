package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.groups.OffsetMapReversal.Ends;
import dev.millrace.mirror.progress.Rewind;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Moves from the source to the target while a mirror runs: checks the mirror, keeps writers out if asked to, waits until
 * nobody writes at the source and all is copied, moves the groups, and compares. Each step may be done again, so a run
 * that has ended early is simply started again; what it must know then is in {@link CutoverState}.
 *
 * <p>To turn the direction for the way back, it lets the mirror back begin, says that the target is in use, and then ends
 * the mirror. Killed in between, both could go on, and the one that was to be ended is the one that an operator starts
 * again; so the next run first ends the other.
 *
 * <p><b>Threads:</b> one thread calls one method, once.
 */
public final class Cutover {
    /** A running mirror writes every 5 s where the records are at the target; for the process before it, within 30 s. */
    private static final Duration EXACT = Duration.ofSeconds(40);

    private final MirrorConfig config;
    private final MirrorConfig opposite;
    private final CutoverOptions options;
    private final CutoverReport report;
    /** The groups whose offsets are written. */
    private final Set<String> moved = new TreeSet<>();

    private boolean isFenced;

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
            return OnlyCutover.run(clusters, report, only -> {
                state.read();
                Steps steps = new Steps(clusters, state);
                try {
                    return steps.run(only);
                } catch (RuntimeException e) {
                    isFenced = !state.denials().isEmpty();
                    throw e;
                }
            });
        } catch (KafkaException e) {
            throw stopped(MirrorException.failed("The cutover has stopped", e));
        } catch (MirrorException e) {
            throw stopped(e);
        }
    }

    /**
     * Takes back the fence, so that the writers can go on at the source, and leaves the mirror as it is. Blocks until
     * that is done.
     *
     * @throws MirrorException if the target is already in use
     */
    public void undo() {
        try (BothClusters clusters = BothClusters.connect(config);
                CutoverState state = new CutoverState(clusters)) {
            state.read();
            Fence fence = new Fence(clusters.source(), state);
            Steps steps = new Steps(clusters, state);
            if (state.isDone()) {
                throw MirrorException.failed("The cutover is done, and the target may have records by now that the"
                        + " source lacks. Return by the way back; or, if the source is no longer needed, remove its ACLs"
                        + " yourself"
                        + String.join(
                                "",
                                fence.describe().stream().map(who -> "; " + who).toList()));
            }
            if (state.denials().isEmpty()) {
                steps.endOpposite();
                report.tell("there is nothing to take back: nobody is denied writing");
                return;
            }
            require("let " + Words.count(fence.describe().size(), "principal") + " write to the source again");
            List<String> allowed = OnlyCutover.run(clusters, report, only -> {
                state.read();
                only.check();
                steps.endOpposite();
                return fence.lower();
            });
            allowed.forEach(denied -> report.tell("denied no longer: " + denied));
        } catch (KafkaException e) {
            throw MirrorException.failed("The cutover cannot be undone", e);
        }
    }

    private void require(String change) {
        if (!report.mayChange(change)) {
            throw MirrorException.failed("Stopped before it would " + change + ". Start it again to go on");
        }
    }

    private MirrorException stopped(MirrorException why) {
        List<String> done = new ArrayList<>();
        if (!moved.isEmpty()) {
            done.add("Already moved: " + Words.list(moved, "group"));
        }
        if (isFenced) {
            done.add("Writers are still denied at the source: start the cutover again, or take that back with --undo");
        }
        return done.isEmpty() ? why : MirrorException.failed(why.getMessage() + ". " + String.join(". ", done));
    }

    private final class Steps {
        private final BothClusters clusters;
        private final CutoverState state;
        private final Fence fence;
        private final CopyCheck copy;
        private final QuietSource quiet;
        /** What the source had when nobody wrote. */
        private SourceRest cut;

        private Optional<LastOffsets> groups = Optional.empty();
        private long compared;
        private Map<TopicPartition, Ends> turnedAt = Map.of();

        Steps(BothClusters clusters, CutoverState state) {
            this.clusters = clusters;
            this.state = state;
            this.fence = new Fence(clusters.source(), state);
            this.copy = new CopyCheck(clusters, report);
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

        CutoverResult run(OnlyCutover only) {
            if (state.isDone() && Rewind.isEnded(config)) {
                goOn();
                return result();
            }
            check();
            only.check();
            endOpposite(); // A run that was killed may have let it begin, and not ended this one.
            begin(2, "stop the writers");
            raiseFence(only);
            begin(3, "wait until nobody writes at the source, and all is copied");
            cut = quiet.await();
            begin(4, "move the groups");
            groups = groups.map(first -> move(first.groups(), only));
            tellGroups();
            begin(5, "verify");
            compared = copy.verify(options.verify());
            requireSame();
            begin(6, "done");
            finish(only);
            endStep();
            return result();
        }

        /** Does what is left of a run that was killed after it had turned the direction. */
        private void goOn() {
            begin(6, "done");
            Rewind.endIfBegun(config);
            report.tell("an earlier call has turned the direction");
            openTarget();
            endStep();
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
                    cut == null ? Map.of() : cut.ends(),
                    turnedAt,
                    groups.map(of -> of.plan().positions()).orElse(List.of()),
                    compared,
                    options.verify());
        }

        private void check() {
            begin(1, "check");
            copy.check();
            groups = config.policies().groups().names().map(names -> LastOffsets.ask(clusters, Set.of()));
            if (options.isWayBackKept()) {
                new WayBack(clusters, opposite).check();
                report.tell("the way back can be kept");
            }
            compared = copy.verify(sampleAtMost());
        }

        private VerifyExtent sampleAtMost() {
            return options.verify() == VerifyExtent.NONE ? VerifyExtent.NONE : VerifyExtent.SAMPLE;
        }

        // ---- writers ----

        private void tellFence() {
            report.tell(
                    options.fence().isPresent()
                            ? "they would be denied writing by ACLs"
                            : "they are not stopped: stop them yourself (--fence none)");
            fence.describe().forEach(denied -> report.tell("denied by an earlier run: " + denied));
        }

        private void raiseFence(OnlyCutover only) {
            if (options.fence().isEmpty()) {
                tellFence();
                return;
            }
            Set<String> topics =
                    MatchingTopics.ask(clusters.source(), config).requireSome().mirrored();
            require("deny writing to " + Words.list(topics, "topic") + " at the source");
            only.check();
            List<String> denied = fence.raise(topics, options.fence().get());
            denied.forEach(who -> report.tell("denied: " + who));
            if (denied.isEmpty()) {
                report.tell("nobody else is allowed to write by an ACL");
            }
            if (options.isWayBackKept() && options.fence().get().isEmpty()) {
                report.tell("the mirror back must be a super user of the source, or be left alone by --fence-except");
            }
        }

        // ---- groups ----

        /** Waits until the groups have left the source and can go on exactly; moves them. */
        private LastOffsets move(Set<String> first, OnlyCutover only) {
            require("move " + Words.list(first, "group") + " to the target");
            Patience patience = new Patience(options.giveUpAfter(), Patience.NO_GROUP_MOVED);
            Patience exact = new Patience(EXACT, Patience.NO_GROUP_MOVED);
            Set<String> known = new TreeSet<>(first);
            while (true) {
                String waitsFor;
                try {
                    LastOffsets offsets = LastOffsets.ask(clusters, known);
                    boolean areAsked = !known.addAll(offsets.groups());
                    Optional<String> obstacle = offsets.obstacle();
                    Optional<String> inexact = offsets.inexact(options.again());
                    if (obstacle.isPresent()) {
                        exact = new Patience(EXACT, Patience.NO_GROUP_MOVED);
                    } else if (inexact.isEmpty() && areAsked && isStillCut() && write(offsets, only)) {
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

        private boolean write(LastOffsets offsets, OnlyCutover only) {
            only.check();
            return offsets.write(moved::add);
        }

        /** If somebody has written while groups were waited for, waits again, for what the mirror then copies. */
        private boolean isStillCut() {
            if (SourceRest.ask(clusters).ends().equals(cut.ends())) {
                return true;
            }
            report.tell("somebody has written to the source again");
            cut = quiet.await();
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

        private void finish(OnlyCutover only) {
            boolean isWayBack = config.policies().isWayBack();
            WayBack back = new WayBack(clusters, opposite);
            if (options.isWayBackKept()) {
                report.tell(
                        "stop the mirror now, and what would start it again: the way back begins when it has ended");
                require("turn the direction then, so that the mirror can go back and not on");
                awaitEnd();
                requireSame();
                long unused = copy.verify(sampleAtMost());
                only.check();
                turnedAt = back.begin(cut.ends());
                if (clusters.hasMirror()) {
                    throw MirrorException.failed(
                            "The mirror runs again: stop what has started it, and start the cutover" + " again");
                }
            }
            only.check();
            state.setDone(true);
            if (options.isWayBackKept()) {
                back.endMirror(cut.ends());
                report.tell("the direction is turned: 'mirror run" + (isWayBack ? "'" : " --back'")
                        + ", with the same options, copies what is written from now on");
            }
            openTarget();
            report.tell("start " + (groups.isPresent() ? "the consumers and then " : "") + "the producers at "
                    + config.producer().get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG)
                    + (options.isWayBackKept()
                            ? ""
                            : isWayBack
                                    ? "; stop the mirror, and do not start 'mirror run' again: it would copy twice"
                                    : "; the mirror still runs, and may be stopped"));
        }

        /** Waits until the mirror has been stopped, where everything is copied. */
        private void awaitEnd() {
            Patience patience = new Patience(
                    options.giveUpAfter(), "The direction is as it was, and the mirror may be started again");
            while (true) {
                String waitsFor;
                try {
                    if (!clusters.hasMirror()) {
                        requireNone(SourceRest.ask(clusters));
                        return;
                    }
                    waitsFor = clusters.describeGroup() + " still has members";
                } catch (RetriableException e) {
                    waitsFor = "a cluster does not answer: " + MirrorException.reason(e);
                }
                report.onProgress(waitsFor);
                patience.pauseUnlessOver(waitsFor);
            }
        }

        private void requireNone(SourceRest rest) {
            if (!rest.isNone()) {
                throw MirrorException.failed(
                        "The mirror has ended before it had committed all. Start it, and the cutover" + " again");
            }
        }

        /** Whoever may not ask about the other direction has not turned it. */
        private void endOpposite() {
            try {
                Rewind.endIfBegun(opposite);
            } catch (MirrorException e) {
                if (!(e.getCause() instanceof AuthorizationException)) {
                    throw e;
                }
            }
        }

        /** A cutover in the other direction may have kept the writers out of what is the target now. */
        private void openTarget() {
            BothClusters there = clusters.turned(opposite);
            try (CutoverState before = new CutoverState(there)) {
                before.read();
                new Fence(there.source(), before)
                        .lower()
                        .forEach(denied -> report.tell("denied no longer at the target: " + denied));
                if (before.isDone()) {
                    before.setDone(false);
                }
            } catch (AuthorizationException e) {
                report.tell(
                        "whether writers are still denied at the target is not known: " + MirrorException.reason(e));
            }
        }
    }
}
