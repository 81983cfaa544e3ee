package dev.millrace.testkit.process;

import dev.millrace.testkit.cluster.KafkaCluster;
import dev.millrace.testkit.stub.StubBroker;
import java.util.concurrent.CountDownLatch;

/** What the JVM that {@link OrphansIT} kills runs: a cluster and a stub broker, until the signal comes. */
final class OrphansParent {
    static final String READY = "ready";

    private OrphansParent() {}

    /** Argument: whether to pause a broker. */
    public static void main(String[] arguments) throws InterruptedException {
        try (KafkaCluster cluster = KafkaCluster.builder().start();
                StubBroker stub = StubBroker.builder().topic("t", 1).start()) {
            if (Boolean.parseBoolean(arguments[0])) {
                cluster.pause(1);
            }
            System.out.println(READY + " " + stub.bootstrapServers());
            new CountDownLatch(1).await();
        }
    }
}
