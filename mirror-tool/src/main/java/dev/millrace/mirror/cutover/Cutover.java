package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.groups.OffsetMapReversal.Ends;
import dev.millrace.mirror.progress.BothClusters;
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
 * <p>To turn the direction it commits three things in this order: that this mirror has ended, where the mirror back
 * begins, and that the cutover is done. So at no moment both mirrors may start. If it is killed after the first, neither
 * may; the next run lets this mirror go on. If it is killed after the second, the next run does what is left.
 *
 * <p><b>Threads:</b> one thread calls one method, once.
 */
public final class Cutover {
    /**
     * How long groups may not go on exactly after their last member has left: a running mirror writes every 5 s where its
     * records are, and takes up to 30 s for what an earlier process has copied.
     */
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
                return new Steps(clusters, state).tellFindings();
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
            WayBack wayBack = new WayBack(clusters, opposite);
            requireNotDone(state, wayBack, fence);
            List<String> denied = fence.describe();
            if (!denied.isEmpty()) {
                require("let " + Words.count(denied.size(), "principal") + " write to the source again");
            }
            List<String> allowed = OnlyCutover.run(clusters, report, only -> {
                state.read();
                requireNotDone(state, wayBack, fence);
                only.check();
                takeBackTurn(state, wayBack);
                return fence.lower();
            });
            allowed.forEach(who -> report.tell("denied no longer: " + who));
            if (allowed.isEmpty()) {
                report.tell("nobody is denied writing");
            }
        } catch (KafkaException e) {
            throw MirrorException.failed("The cutover cannot be undone", e);
        }
    }

    private static void requireNotDone(CutoverState state, WayBack wayBack, Fence fence) {
        if (isDone(state, wayBack)) {
            throw MirrorException.failed("The cutover is done, and the target may have records by now that the"
                    + " source lacks. Return by the way back; or, if the source is no longer needed, remove its ACLs"
                    + " yourself"
                    + String.join(
                            "", fence.describe().stream().map(who -> "; " + who).toList()));
        }
    }

    /** Whether the target is the cluster in use, also if the call that made it so was killed before it noted that. */
    private static boolean isDone(CutoverState state, WayBack wayBack) {
        return state.isDone() || (state.isTurning() && wayBack.isTurned());
    }

    /** Lets the mirror go on that a killed call has ended before the direction was turned. */
    private static void takeBackTurn(CutoverState state, WayBack wayBack) {
        if (state.isTurning()) {
            wayBack.letMirrorGoOn();
            state.setTurning(false);
        }
    }

    private void require(String change) {
        if (!report.mayChange(change)) {
            throw MirrorException.failed(
                    "Stopped, because you did not agree to " + change + ". Start it again to go on");
        }
    }

    private MirrorException stopped(MirrorException why) {
        List<String> done = new ArrayList<>();
        if (!moved.isEmpty()) {
            done.add("Already moved: " + Words.list(moved, "group"));
        }
        if (isFenced) {
            done.add(
                    "Writers are still denied at the source: start the cutover again, or remove the fence with --undo");
        }
        return done.isEmpty() ? why : MirrorException.failed(why.getMessage() + ". " + String.join(". ", done));
    }

    private final class Steps {
        private final BothClusters clusters;
        private final CutoverState state;
        private final Fence fence;
        private final CopyCheck copy;
        private final QuietSource quiet;
        private final WayBack wayBack;
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
            this.wayBack = new WayBack(clusters, opposite);
        }

        /** Says what each step finds now. */
        CutoverResult tellFindings() {
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
            if (isDone(state, wayBack) && wayBack.isMirrorEnded()) {
                finishTurned();
                return result();
            }
            if (state.isTurning()) {
                require("let the mirror go on, which an earlier call has ended");
                only.check();
                takeBackTurn(state, wayBack);
            }
            check();
            only.check();
            begin(2, "stop the writers");
            raiseFence(only);
            begin(3, "wait until nobody writes at the source, and all is copied");
            cut = quiet.await();
            begin(4, "move the groups");
            groups = groups.map(first -> move(first.groups(), only));
            tellGroups();
            begin(5, "verify");
            compared = copy.verify(options.verify());
            requireNobodyCameBack();
            begin(6, "finish");
            finish(only);
            endStep();
            return result();
        }

        /** Does what is left of a run that was killed after it had turned the direction. */
        private void finishTurned() {
            begin(6, "finish");
            report.tell("an earlier call has turned the direction");
            setTurned();
            openTarget(true);
            endStep();
        }

        private void setTurned() {
            state.setTurned(true);
            state.setDone(true);
            state.setTurning(false);
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
                    groups.map(of -> of.toMove().toList()).orElse(List.of()),
                    compared);
        }

        private void check() {
            begin(1, "check");
            copy.check();
            groups = config.policies().groups().names().map(names -> LastOffsets.ask(clusters, Set.of()));
            if (options.isWayBackKept()) {
                wayBack.check();
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
                    options.isFenced()
                            ? "they would be denied writing by ACLs"
                            : "they are not stopped: stop them yourself (--fence none)");
            fence.describe().forEach(denied -> report.tell("denied by an earlier run: " + denied));
        }

        private void raiseFence(OnlyCutover only) {
            if (!options.isFenced()) {
                tellFence();
                return;
            }
            Set<String> topics =
                    MatchingTopics.ask(clusters.source(), config).requireSome().mirrored();
            require("deny writing to " + Words.list(topics, "topic") + " at the source");
            only.check();
            List<String> denied = fence.raise(topics, options.fenceExceptions());
            denied.forEach(who -> report.tell("denied: " + who));
            if (denied.isEmpty()) {
                report.tell(
                        "nobody is denied: no ACL allows anybody to write whom --fence-except does not leave alone, or"
                                + " others deny it already");
            }
            if (options.isWayBackKept() && options.fenceExceptions().isEmpty()) {
                report.tell("the mirror back must be a super user of the source, or be left alone by --fence-except");
            }
        }

        // ---- groups ----

        /** Waits until the groups have left the source and can go on exactly; moves them. */
        private LastOffsets move(Set<String> groupsOfCheck, OnlyCutover only) {
            require("move " + Words.list(groupsOfCheck, "group") + " to the target");
            Patience patience = new Patience(options.giveUpAfter(), Patience.NO_GROUP_MOVED);
            Patience untilExact = new Patience(EXACT, Patience.NO_GROUP_MOVED);
            Set<String> known = new TreeSet<>(groupsOfCheck);
            while (true) {
                String waitsFor;
                try {
                    LastOffsets offsets = LastOffsets.ask(clusters, known);
                    boolean areAllAsked = !known.addAll(offsets.groups());
                    Optional<String> obstacle = offsets.obstacle();
                    Optional<String> inexact = offsets.inexact(options.again());
                    if (obstacle.isPresent()) {
                        untilExact = new Patience(EXACT, Patience.NO_GROUP_MOVED);
                    } else if (hasMoved()) {
                        report.tell("somebody has written to the source again");
                        cut = quiet.await();
                        untilExact = new Patience(EXACT, Patience.NO_GROUP_MOVED);
                    } else if (inexact.isEmpty() && areAllAsked && write(offsets, only)) {
                        return offsets;
                    } else if (inexact.isPresent() && untilExact.isOver()) {
                        throw MirrorException.failed(
                                inexact.get() + ". No group was moved. Narrow --groups, or allow it with --again N");
                    }
                    waitsFor = obstacle.or(() -> inexact)
                            .orElse("what groups have committed has changed, and is asked for again");
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

        /** Whether somebody has written to the source since it was quiet. */
        private boolean hasMoved() {
            return !SourceRest.ask(clusters).ends().equals(cut.ends());
        }

        private void tellGroups() {
            if (groups.isEmpty()) {
                report.tell("no group is moved: without --groups the mirror does not keep their offsets");
            } else {
                groups.get().describe().forEach(report::tell);
            }
        }

        // ---- the end ----

        /** Makes sure that no writer and no group has come back to the source. */
        private void requireNobodyCameBack() {
            if (hasMoved()) {
                throw MirrorException.failed("Somebody has written to the source since step 3, or created or deleted a"
                        + " topic there. Stop the writer, start the mirror if you have stopped it, and start the cutover"
                        + " again");
            }
            groups.flatMap(before -> LastOffsets.ask(clusters, before.groups()).changeSince(before))
                    .ifPresent(change -> {
                        throw MirrorException.failed(change
                                + ". Stop its consumers there, start the mirror if you have stopped it, and start"
                                + " the cutover again");
                    });
            report.tell("nobody has come back to the source");
        }

        private void finish(OnlyCutover only) {
            if (options.isWayBackKept()) {
                turn(only);
            } else {
                only.check();
                state.setDone(true);
            }
            openTarget(options.isWayBackKept());
            report.tell("start " + (groups.isPresent() ? "the consumers and then " : "") + "the producers at "
                    + config.producer().get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG) + mirrorNext());
        }

        /** Returns the end of a sentence about what to do with the mirror. */
        private String mirrorNext() {
            if (options.isWayBackKept()) {
                return "";
            }
            return config.policies().isWayBack()
                    ? "; the mirror still runs, and may be stopped; without --keep-way-back, 'mirror run' stays refused"
                    : "; the mirror still runs, and may be stopped";
        }

        /** Waits until the mirror has ended, and turns the direction. */
        private void turn(OnlyCutover only) {
            boolean isWayBack = config.policies().isWayBack();
            String now = isWayBack ? "mirror run --back" : "mirror run";
            String then = isWayBack ? "mirror run" : "mirror run --back";
            report.tell("stop the mirror now, and what would start it again: the way back begins when it has ended");
            require("turn the direction when the mirror has ended, so that '" + now + "' refuses to start and '" + then
                    + "' may");
            awaitEnd();
            requireNobodyCameBack();
            long unused = copy.verify(sampleAtMost());
            only.check();
            wayBack.endBack(); // if it was begun once, before this mirror is ended
            state.setTurning(true);
            if (state.isDone()) { // by a cutover that kept no way back
                state.setDone(false);
            }
            wayBack.endMirror(cut.ends());
            if (clusters.hasMirror()) {
                throw MirrorException.failed("The mirror has been started again while the direction was turned. Stop"
                        + " what starts it, and start the cutover again");
            }
            only.check();
            turnedAt = wayBack.begin(cut.ends());
            if (!wayBack.isMirrorEnded()) { // this process has slept, and another cutover let the mirror go on
                wayBack.endBack();
                throw MirrorException.failed(
                        "Another cutover has let the mirror go on while the direction was turned. Start it again");
            }
            only.check();
            setTurned();
            report.tell("the direction is turned: '" + then
                    + "', with the same options, copies what is written from now on");
        }

        /** Waits until the mirror has been stopped, where everything is copied. */
        private void awaitEnd() {
            Patience patience = new Patience(
                    options.giveUpAfter(), "The direction is as it was, and the mirror may be started again");
            while (true) {
                String waitsFor;
                try {
                    if (!clusters.hasMirror()) {
                        requireAllCommitted(SourceRest.ask(clusters));
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

        private static void requireAllCommitted(SourceRest rest) {
            if (!rest.isNone()) {
                throw MirrorException.failed(
                        "The mirror has ended before it had committed all. Start it again, and then the cutover");
            }
        }

        /**
         * A cutover in the other direction may have kept the writers out of what is the target now.
         *
         * @param mayOppositeGoOn whether the mirror in the other direction may run from now on
         */
        private void openTarget(boolean mayOppositeGoOn) {
            BothClusters there = clusters.turned(opposite);
            try (CutoverState before = new CutoverState(there)) {
                before.read();
                new Fence(there.source(), before)
                        .lower()
                        .forEach(denied -> report.tell("denied no longer at the target: " + denied));
                if (before.isDone()) {
                    before.setDone(false);
                }
                if (mayOppositeGoOn && before.isTurned()) {
                    before.setTurned(false);
                }
            } catch (AuthorizationException e) {
                report.tell(
                        "whether writers are still denied at the target is not known: " + MirrorException.reason(e));
            }
        }
    }
}
