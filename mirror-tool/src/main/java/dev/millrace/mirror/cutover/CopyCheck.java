package dev.millrace.mirror.cutover;

import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.config.SyncPolicy;
import dev.millrace.mirror.config.SyncedPart;
import dev.millrace.mirror.progress.BothClusters;
import dev.millrace.mirror.run.MirrorPlan;
import dev.millrace.mirror.text.MirrorException;
import dev.millrace.mirror.text.Words;
import dev.millrace.mirror.topics.SyncCheck;
import dev.millrace.mirror.topics.TopicPlan;
import dev.millrace.mirror.verify.PartitionResult;
import dev.millrace.mirror.verify.TopicResult;
import dev.millrace.mirror.verify.Verification;
import dev.millrace.mirror.verify.VerifyResult;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** Looks whether the mirror works and its copies are like the source. Blocks while the clusters answer. */
record CopyCheck(BothClusters clusters, CutoverReport report) {
    private static final long SAMPLE = 1_000;

    /**
     * Makes sure that the mirror runs, could start again, has nothing to create, and has synced what it is asked to.
     *
     * @throws MirrorException if not
     */
    void check() {
        MirrorPlan plan = MirrorPlan.of(clusters.config());
        plan.obstacle().ifPresent(why -> {
            throw MirrorException.failed("The mirror would not start again: " + why);
        });
        plan.topics().stream().filter(topic -> !topic.isPossible()).findFirst().ifPresent(topic -> {
            throw MirrorException.failed("Topic " + topic.topic() + " is not mirrored, but --topics matches it: "
                    + String.join("; ", topic.notes()));
        });
        List<String> missing = plan.topics().stream()
                .filter(topic -> !topic.isThere())
                .map(TopicPlan::topic)
                .toList();
        if (!missing.isEmpty()) {
            throw MirrorException.failed("The target does not have all partitions of " + Words.list(missing, "topic")
                    + " yet. The mirror adds them while it runs");
        }
        clusters.requireMirror();
        report.tell("the mirror runs: " + clusters.describeGroup() + " has members");
        report.tell(
                "the target has all partitions of " + Words.count(plan.topics().size(), "topic"));
        checkSync(plan.topics().stream().map(TopicPlan::topic).toList());
    }

    private void checkSync(List<String> topics) {
        SyncPolicy policy = clusters.config().policies().sync();
        if (policy.parts().isEmpty()) {
            return;
        }
        List<String> different = new SyncCheck(
                        policy,
                        clusters.source(),
                        new CopiesOnTarget(clusters.target(), clusters.config().names()))
                .differences(topics);
        if (!different.isEmpty()) {
            throw MirrorException.failed("The target lacks what --sync asks for: " + String.join(", ", different)
                    + ". The mirror adds it when it syncs again (--sync-interval), or its log says why not; without the"
                    + " part in --sync, the cutover does not ask");
        }
        report.tell("the target has what --sync asks for: "
                + policy.parts().stream().sorted().map(SyncedPart::toString).collect(Collectors.joining(", ")));
    }

    /**
     * Compares the copies with the source, and returns how many records are the same.
     *
     * @throws MirrorException if they differ, or cannot be compared
     */
    long verify(VerifyExtent extent) {
        if (extent == VerifyExtent.NONE) {
            report.tell("nothing is compared: --verify none");
            return 0;
        }
        OptionalLong sample = extent == VerifyExtent.SAMPLE ? OptionalLong.of(SAMPLE) : OptionalLong.empty();
        VerifyResult result = new Verification(
                        clusters.config(),
                        sample,
                        (soFar, partitions, records) -> report.onProgress(Words.number(soFar) + " of "
                                + Words.count(partitions, "partition") + " compared, "
                                + Words.count(records, "record") + " read"))
                .run();
        requireEmpty(extent, result.different(), "The target differs from the source in ");
        requireEmpty(extent, result.unclear(), "The target cannot be compared with the source in ");
        long compared = result.sum(PartitionResult::same);
        report.tell(Words.count(compared, "record") + " compared, the same"
                + (sample.isPresent() ? "; the last " + Words.number(SAMPLE) + " of each partition, at most" : ""));
        return compared;
    }

    private static void requireEmpty(VerifyExtent extent, List<TopicResult> topics, String what) {
        if (!topics.isEmpty()) {
            throw MirrorException.failed(what
                    + Words.list(topics.stream().map(TopicResult::topic).toList(), "topic")
                    + "; 'mirror verify" + (extent == VerifyExtent.WHOLE ? "" : " --sample " + SAMPLE)
                    + "' tells how, and --verify none compares nothing");
        }
    }
}
