package dev.millrace.weather;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.oracle.Comparison;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.IsolationLevel;

/** After a cutover others write to the target, and the mirror brings that back to the source: once, in order, and not around. */
final class WayBack {
    private static final Duration WRITING = Duration.ofSeconds(5);
    private static final int FIRST_TOPIC = 40;

    private final Scene scene;
    private final Climate climate;
    private final Side source;
    private final Side target;
    private final Judgement judgement;

    WayBack(Scene scene, Judgement judgement) {
        this.scene = scene;
        climate = scene.climate();
        source = scene.source();
        target = scene.target();
        this.judgement = judgement;
    }

    /** Blocks until it is over. Requires that the direction is turned, and that nothing is broken. */
    void judge() throws InterruptedException, ExecutionException, TimeoutException {
        leaveOutWhatIsThere();
        scene.fleet().turn();
        for (int i = 0; i < scene.topics().size(); i++) {
            judge(scene.topics().get(i), FIRST_TOPIC + i);
        }
        scene.fleet().stop(() -> false);
    }

    private void leaveOutWhatIsThere() throws ExecutionException, TimeoutException {
        source.leaveOut(source.ends(source.partitions(climate.topicNames()), IsolationLevel.READ_UNCOMMITTED));
        target.leaveOut(target.ends(
                target.partitions(
                        climate.topicNames().stream().map(climate::copyOf).toList()),
                IsolationLevel.READ_UNCOMMITTED));
    }

    private void judge(SourceTopic topic, int partOfSeed)
            throws InterruptedException, ExecutionException, TimeoutException {
        String name = topic.kind().name();
        TopicKind written = topic.kind().writtenTo(climate.copyOf(name));
        try (SourceTopic others = new SourceTopic(target, written, Climate.random(climate.seed(), partOfSeed))) {
            others.setPartitions(topic.partitions());
            others.writeBacklog();
            if (climate.treatment() == Treatment.ROUGH) {
                kill(scene.fleet().members().get(0));
            }
            others.writeOthers(WRITING);
            Await.holdsWithin(climate.bound(), () -> isBack(name, written));
            judgement.found(
                    Rule.DOUBLED,
                    target.read(written.name(), record -> true).records() - others.written(),
                    "the target has more of " + written + " than was written there");
        }
        Comparison comparison = compare(name, written);
        Promise promise = Promise.of(climate.mirror(), topic.kind(), Incidents.NONE);
        judgement.judge("the way back of " + topic.kind(), promise, comparison, comparison, comparison, 0);
    }

    private static void kill(MirrorMember member) throws InterruptedException {
        member.awaitStarted();
        member.kill();
        member.start();
    }

    private boolean isBack(String topic, TopicKind written) {
        try {
            return compare(topic, written).lost() == 0;
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    private Comparison compare(String topic, TopicKind written) throws ExecutionException, TimeoutException {
        return target.read(written.name(), record -> true).compare(source.read(topic, record -> true));
    }
}
