package dev.millrace.weather;

import dev.millrace.testkit.oracle.Comparison;
import dev.millrace.testkit.oracle.TopicDigest;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.CompressionType;

/** Judges, when the mirror has stopped, what it has left on the target, and what it has printed. */
final class CopyJudge {
    private final Scene scene;
    private final Climate climate;
    private final Side source;
    private final Side target;
    private final GoneRecords gone;
    private final Judgement judgement;

    CopyJudge(Scene scene, Judgement judgement) {
        this.scene = scene;
        climate = scene.climate();
        source = scene.source();
        target = scene.target();
        gone = scene.gone();
        this.judgement = judgement;
    }

    /** Whether the target is as the source, and knows where groups go on, so that one can move there. */
    boolean isCutoverPossible() throws ExecutionException, TimeoutException {
        boolean mayAsk = !climate.source().isAuthorized() && !climate.target().isAuthorized();
        boolean isClean = !scene.fleet().wasKilled()
                && !scene.fleet().wasFrozen()
                && !scene.fleet().wasSetBack()
                && climate.topicNames().stream().allMatch(gone::isEmpty);
        if (!mayAsk || (climate.mirror().hasGroups() && !isClean)) {
            return false;
        }
        for (TopicKind topic : climate.topics()) {
            if (!topic.isCopiedWhole()
                    || topic.hasStranger()
                    || gone.mustBeCopiedAgain(topic.name())
                    || !isSame(topic.name())) {
                return false;
            }
        }
        return true;
    }

    /** Whether the target has what the source still has, once and in order; it may have what the source has no more. */
    private boolean isSame(String topic) throws ExecutionException, TimeoutException {
        Comparison comparison =
                source.read(topic, record -> true).compare(target.read(climate.copyOf(topic), record -> true));
        return comparison.lost() + comparison.doubled() + comparison.reordered() == 0;
    }

    void judge(ReaderGroup group) throws ExecutionException, TimeoutException {
        MirrorFleet fleet = scene.fleet();
        for (TopicKind topic : climate.topics()) {
            Promise promise = Promise.of(climate.mirror(), topic, incidents(topic));
            Predicate<ConsumerRecord<byte[], byte[]>> isJudged = scene.judged(topic);
            judgeRecords(topic, isJudged, promise);
            judgeDeadLetters(topic);
            judgeCodecs(topic);
            if (climate.mirror().hasGroups() && gone.fromCopy(topic.name()).records() == 0) {
                group.judge(
                        topic.name(),
                        isJudged,
                        promise,
                        fleet.wasKilled() || fleet.wasFrozen(),
                        !gone.isEmpty(topic.name()),
                        judgement);
            }
        }
        if (!fleet.wasFrozen()) {
            group.judgeSetBack(judgement, gone);
        }
    }

    private Incidents incidents(TopicKind topic) {
        return new Incidents(
                scene.fleet().wasFrozen(),
                scene.fleet().wasSetBack(),
                !gone.isEmpty(topic.name()),
                gone.wasCopyDeleted(topic.name()),
                gone.wasEndLost(topic.name()));
    }

    private void judgeRecords(TopicKind topic, Predicate<ConsumerRecord<byte[], byte[]>> isJudged, Promise promise)
            throws ExecutionException, TimeoutException {
        TopicDigest present = source.read(topic.name(), isJudged);
        TopicDigest committed = gone.committed(topic.name()).plus(present);
        TopicDigest withAborted = topic.isTransactional()
                ? gone.all(topic.name()).plus(source.read(topic.name(), IsolationLevel.READ_UNCOMMITTED, isJudged))
                : committed;
        TopicDigest copy = scene.copy(topic, isJudged);
        // Nobody names what went with a topic or with a disk, or again what had gone before its copy went.
        long named = gone.mustBeCopiedAgain(topic.name())
                ? committed.records()
                : scene.fleet().named(topic.name());
        judgement.judge(
                topic.toString(),
                promise,
                committed.compare(copy),
                withAborted.compare(copy),
                present.compare(copy),
                named);
    }

    /** What the copy refuses must all be there instead, at least once. */
    private void judgeDeadLetters(TopicKind topic) throws ExecutionException, TimeoutException {
        if (topic.isRefused() && climate.mirror().keepsDeadLetters() && !gone.wasCopyDeleted(topic.name())) {
            String deadLetters = TopicKind.deadLetters(climate.copyOf(topic.name()));
            long refused = source.read(topic.name(), topic::refuses).records();
            long kept = target.read(deadLetters, record -> true).records();
            judgement.found(
                    Rule.LOST, refused - kept, deadLetters + " has " + kept + " of " + refused + " refused records");
        }
    }

    private void judgeCodecs(TopicKind topic) throws ExecutionException, TimeoutException {
        if (climate.mirror().isThroughConsumers()) {
            return;
        }
        for (TopicPartition partition : target.partitions(List.of(climate.copyOf(topic.name())))) {
            Set<CompressionType> codecs = StoredCodecs.of(target.cluster(), partition);
            codecs.remove(topic.codec());
            judgement.found(Rule.RECODED, codecs.size(), partition + " has batches of " + codecs + "; " + topic);
        }
    }
}
