package dev.millrace.weather;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.oracle.Comparison;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.IsolationLevel;

/** After a cutover others write to the target, and the mirror brings that back to the source: once, in order, and not around. */
final class WayBack {
    private static final Duration WRITING = Duration.ofSeconds(5);
    private static final Duration SET = Duration.ofMinutes(1);
    private static final int FIRST_TOPIC = 40;

    private final Scene scene;
    private final Climate climate;
    private final Side source;
    private final Side target;
    private final Judgement judgement;

    /** What others have written to the copy of a topic. */
    private record Written(TopicKind original, TopicKind toCopy, int records) {}

    WayBack(Scene scene, Judgement judgement) {
        this.scene = scene;
        climate = scene.climate();
        source = scene.source();
        target = scene.target();
        this.judgement = judgement;
    }

    /**
     * Blocks until it is over. Requires that the direction is turned, and that nothing is broken.
     *
     * @throws IllegalStateException if a process does not start
     */
    void judge() throws InterruptedException, ExecutionException, TimeoutException {
        leaveOutWhatIsThere();
        for (TopicKind topic : climate.topics()) {
            if (topic.isLogAppendTime()) { // else the source would change the timestamps
                Await.until(
                        "the source keeps timestamps",
                        SET,
                        () -> source.set(topic.name(), "message.timestamp.type", "CreateTime"));
            }
        }
        scene.fleet().startBack();
        List<Written> all = new ArrayList<>();
        for (SourceTopic topic : scene.topics()) {
            all.add(writeToCopy(topic, FIRST_TOPIC + all.size()));
        }
        for (Written written : all) {
            Await.holdsWithin(climate.bound(), () -> isBack(written));
        }
        scene.fleet().check();
        scene.fleet().stop(() -> false);
        scene.fleet().judgeRefusal();
        for (Written written : all) {
            judge(written);
        }
    }

    private void leaveOutWhatIsThere() throws ExecutionException, TimeoutException {
        source.leaveOut(source.ends(source.partitions(climate.topicNames()), IsolationLevel.READ_UNCOMMITTED));
        target.leaveOut(target.ends(
                target.partitions(
                        climate.topicNames().stream().map(climate::copyOf).toList()),
                IsolationLevel.READ_UNCOMMITTED));
    }

    private Written writeToCopy(SourceTopic topic, int partOfSeed) throws InterruptedException {
        TopicKind toCopy = topic.kind().writtenTo(climate.copyOf(topic.kind().name()));
        try (SourceTopic others = new SourceTopic(target, toCopy, Climate.random(climate.seed(), partOfSeed))) {
            others.setPartitions(topic.partitions());
            others.writeBacklog();
            if (climate.treatment() == Treatment.ROUGH) {
                kill(scene.fleet().members().get(0));
            }
            others.writeOthers(WRITING);
            return new Written(topic.kind(), toCopy, others.written());
        }
    }

    private void kill(MirrorMember member) throws InterruptedException {
        member.awaitStarted();
        scene.fleet().check();
        member.kill();
        member.start();
    }

    private boolean isBack(Written written) {
        scene.fleet().check();
        try {
            return compare(written).lost() == 0;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    private void judge(Written written) throws ExecutionException, TimeoutException {
        Comparison comparison = compare(written);
        Promise promise = Promise.of(climate.mirror(), written.original(), Incidents.NONE);
        judgement.judge("the way back of " + written.original(), promise, comparison, comparison, comparison, 0);
        judgement.found(
                Rule.DOUBLED,
                comparison.source() - written.records(),
                "the target has more of " + written.toCopy() + " than was written there");
    }

    private Comparison compare(Written written) throws ExecutionException, TimeoutException {
        return target.read(written.toCopy().name(), record -> true)
                .compare(source.read(written.original().name(), record -> true));
    }
}
