package dev.millrace.client.support;

import dev.millrace.testkit.Await;
import dev.millrace.testkit.cluster.KafkaCluster;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.acl.AclBinding;

/** Changes ACLs and waits until brokers know the change, which takes a moment. */
public final class Acls {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private Acls() {}

    public static void add(KafkaCluster cluster, AclBinding acl) throws ExecutionException, InterruptedException {
        cluster.admin().createAcls(List.of(acl)).all().get();
        Await.until("the broker knows " + acl, PATIENCE, () -> isKnown(cluster, acl));
    }

    public static void remove(KafkaCluster cluster, AclBinding acl) throws ExecutionException, InterruptedException {
        cluster.admin().deleteAcls(List.of(acl.toFilter())).all().get();
        Await.until("the broker has forgotten " + acl, PATIENCE, () -> !isKnown(cluster, acl));
    }

    private static boolean isKnown(KafkaCluster cluster, AclBinding acl) {
        try {
            return !cluster.admin().describeAcls(acl.toFilter()).values().get().isEmpty();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
