package dev.millrace.client.metadata;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.millrace.client.metadata.ClusterDelta.LeaderHint;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Images are whole when they are seen, and none is made from an older one than the last. {@link ClusterImagesTwins}
 * shows that these tests can fail. That no wake-up is lost is the matter of {@code ClusterImagesStressTest}, because a
 * thread that waits is of no use here.
 */
public class ClusterImagesStress {
    private static final Uuid ID = new Uuid(1, 1);
    private static final ClusterImage KNOWN =
            ClusterImage.bootstrap(List.of()).withDelta(answer("t", List.of(new Node(1, "", 1), new Node(2, "", 2))));

    /** A topic of one partition, which broker 1 leads in epoch 1. */
    private static ClusterDelta answer(String topic, List<Node> nodes) {
        int[][] replicas = {{1, 2}};
        TopicImage described = new TopicImage(
                topic, ID, new int[] {1}, new int[] {1}, new Replicas(replicas, replicas, new int[1][0]));
        return new ClusterDelta(null, nodes, List.of(described), Map.of(), false);
    }

    /** A broker names a new leader while a thread looks at the old one. */
    @JCStressTest
    @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "The leader before.")
    @Outcome(id = "2, 2, 2", expect = ACCEPTABLE, desc = "The new leader.")
    @Outcome(expect = FORBIDDEN, desc = "An image in which version, leader and epoch do not fit together.")
    @State
    public static class HintVersusReader {
        private final ClusterImages images = new ClusterImages(KNOWN);

        @Actor
        public void hint() {
            images.applyLeaderHints(List.of(new LeaderHint("t", ID, 0, 2, 2)), List.of());
        }

        @Actor
        public void reader(III_Result r) {
            ClusterImage image = images.current();
            r.r1 = image.version();
            r.r2 = image.topic("t").leader(0);
            r.r3 = image.topic("t").leaderEpoch(0);
        }
    }

    /** Two threads change two topics. */
    @JCStressTest
    @Outcome(id = "3, 2", expect = ACCEPTABLE, desc = "One image after the other, and both changes in the last.")
    @Outcome(expect = FORBIDDEN, desc = "A lost change, or one version twice.")
    @State
    public static class HintVersusAnswer {
        private final ClusterImages images = new ClusterImages(KNOWN);

        @Actor
        public void hint() {
            images.applyLeaderHints(List.of(new LeaderHint("t", ID, 0, 2, 2)), List.of());
        }

        @Actor
        public void answer() {
            images.applyDelta(ClusterImagesStress.answer("u", List.of()));
        }

        @Arbiter
        public void last(II_Result r) {
            ClusterImage image = images.current();
            r.r1 = image.version();
            r.r2 = image.topic("t").leader(0) * (image.topic("u") == null ? 0 : 1);
        }
    }

    /** A thread that publishes twice, and then looks twice, while another publishes. */
    @JCStressTest
    @Outcome(
            id = {"3, 3", "3, 4", "4, 4"},
            expect = ACCEPTABLE,
            desc = "The second look sees the same image or a newer one.")
    @Outcome(expect = FORBIDDEN, desc = "The version goes back.")
    @State
    public static class TwoLooks {
        private final ClusterImages images = new ClusterImages(KNOWN);

        @Actor
        public void answer() {
            images.applyDelta(ClusterImagesStress.answer("u", List.of()));
        }

        @Actor
        public void answersAndLooks(II_Result r) {
            images.applyDelta(ClusterImagesStress.answer("v", List.of()));
            images.applyDelta(ClusterImagesStress.answer("w", List.of()));
            r.r1 = images.current().version();
            r.r2 = images.current().version();
        }
    }
}
