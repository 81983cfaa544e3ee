package dev.millrace.weather;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.oracle.TopicDigest;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** Judges, while the mirror runs and nothing is broken, whether it does in time what is left to do. */
final class ProgressJudge {
    private final Scene scene;
    private final Climate climate;
    private final Judgement judgement;

    ProgressJudge(Scene scene, Judgement judgement) {
        this.scene = scene;
        climate = scene.climate();
        this.judgement = judgement;
    }

    /** Blocks until all that is at the source now is copied and committed, or time runs out. */
    void judgeProgress(String when) throws ExecutionException, TimeoutException {
        Map<TopicPartition, Long> ends = scene.copied().ends();
        boolean isCopied = Await.holdsWithin(climate.bound(), () -> {
            scene.fleet().check();
            return scene.copied().behind(ends).isEmpty();
        });
        if (!isCopied) {
            Map<TopicPartition, String> behind = scene.copied().behind(ends);
            judgement.found(Rule.STUCK, behind.size(), when + ": " + behind);
        }
    }

    /** Blocks until nothing is left to do for the mirror, or time runs out. */
    void judgeTheEnd() throws ExecutionException, TimeoutException {
        judgeProgress("at the end");
        awaitWhatWasDeleted();
        judgeReadable();
        judgeSettings();
        scene.fleet().judgeReadiness(climate.bound());
        scene.fleet().judgeFootprints();
    }

    /**
     * Blocks until the target has all of the topics of which either side went, or time runs out: the mirror may not know it yet.
     * What is missing then is found later.
     */
    private void awaitWhatWasDeleted() throws ExecutionException, TimeoutException {
        for (TopicKind topic : climate.topics()) {
            if (scene.gone().mustBeCopiedAgain(topic.name())) {
                Predicate<ConsumerRecord<byte[], byte[]>> isJudged = scene.judged(topic);
                TopicDigest present = scene.source().read(topic.name(), isJudged);
                Await.holdsWithin(climate.bound(), () -> isComplete(present, topic, isJudged));
            }
        }
    }

    private boolean isComplete(
            TopicDigest present, TopicKind topic, Predicate<ConsumerRecord<byte[], byte[]>> isJudged) {
        try {
            return present.compare(scene.copy(topic, isJudged)).lost() == 0;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    private void judgeReadable() {
        if (!Await.holdsWithin(
                climate.bound(), () -> scene.copied().inOpenTransactions().isEmpty())) {
            Map<TopicPartition, String> open = scene.copied().inOpenTransactions();
            judgement.found(Rule.STUCK, open.size(), "a transaction is open on the target: " + open);
        }
    }

    private void judgeSettings() throws ExecutionException, TimeoutException {
        if (climate.mirror().hasSettings()) {
            for (String topic : climate.topicNames()) {
                String copy = climate.copyOf(topic);
                Map<String, String> wanted = scene.source().settings(topic);
                wanted.remove("message.timestamp.type"); // copies keep the timestamps of their originals
                if (!Await.holdsWithin(climate.bound(), () -> wanted.equals(settingsOrNone(copy)))) {
                    judgement.found(
                            Rule.OTHER_SETTINGS, 1, topic + " has " + wanted + ", its copy " + settingsOrNone(copy));
                }
            }
        }
    }

    private Map<String, String> settingsOrNone(String copy) {
        try {
            return scene.target().settings(copy);
        } catch (ExecutionException | TimeoutException e) {
            return Map.of();
        }
    }
}
