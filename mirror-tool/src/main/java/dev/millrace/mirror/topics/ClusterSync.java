package dev.millrace.mirror.topics;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.cluster.CopiesOnTarget;
import dev.millrace.mirror.cluster.MatchingTopics;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.config.SyncPolicy;
import dev.millrace.mirror.config.SyncedPart;
import dev.millrace.mirror.control.Timers;
import dev.millrace.mirror.text.MirrorException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the target's settings, ACLs and quotas as a {@link SyncPolicy} asks. It never removes an ACL or a quota there,
 * because it cannot know whether the target set it itself. It logs and retries what fails; records are mirrored
 * meanwhile.
 *
 * <p><b>Threads:</b> its own timer thread does the work; the thread that runs the mirror calls {@link #close}.
 */
public final class ClusterSync implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterSync.class);

    private final MirrorConfig config;
    private final Admin source;
    private final Admin target;
    private final MissingRights rights;
    private final SettingsSync settings;
    private final ScheduledExecutorService timer = Timers.daemon("mirror-sync");
    /** The last problem logged for each subject, so that a lasting problem is logged once. */
    private final Map<String, String> told = new HashMap<>();

    public ClusterSync(MirrorConfig config, Admin source, CopiesOnTarget copies) {
        this.config = config;
        this.source = source;
        this.target = copies.target();
        rights = new MissingRights(source, target, copies.names());
        settings = new SettingsSync(config.policies().sync().excludedSettings(), source, copies, this::tell);
    }

    /** Starts the timer if anything is to be kept in sync. */
    public void start() {
        SyncPolicy policy = config.policies().sync();
        if (!policy.parts().isEmpty()) {
            timer.scheduleWithFixedDelay(
                    () -> policy.parts().forEach(this::run),
                    0,
                    policy.interval().toNanos(),
                    TimeUnit.NANOSECONDS);
        }
    }

    private void run(SyncedPart part) {
        try {
            switch (part) {
                case SETTINGS -> settings.run(topics());
                case ACLS -> copyReaders(topics());
                case QUOTAS -> copyQuotas();
            }
            told.remove(part.toString());
        } catch (RuntimeException | Error failure) {
            if (!timer.isShutdown()) { // otherwise close() has interrupted it
                tell(
                        part.toString(),
                        "The " + part + " on the target cannot be kept like those on the source now; trying again: "
                                + MirrorException.reason(failure));
            }
        }
    }

    private Set<String> topics() {
        return MatchingTopics.ask(source, config).mirrored();
    }

    private void tell(String part, String problem) {
        if (!problem.equals(told.put(part, problem))) {
            LOG.warn("{}", problem);
        }
    }

    private void copyReaders(Collection<String> topics) {
        Set<AclBinding> readers = rights.missingReaders(topics);
        // Denials are created first, so that nobody reads in the meantime what the source denies.
        if (create(withPermission(readers, AclPermissionType.DENY))) {
            create(withPermission(readers, AclPermissionType.ALLOW));
        }
    }

    private static List<AclBinding> withPermission(Collection<AclBinding> acls, AclPermissionType permission) {
        return acls.stream()
                .filter(acl -> acl.entry().permissionType() == permission)
                .toList();
    }

    /** Returns whether the target has taken all of them. */
    private boolean create(List<AclBinding> acls) {
        boolean areTaken = true;
        for (List<AclBinding> batch : Clusters.batches(acls)) {
            for (Map.Entry<AclBinding, KafkaFuture<Void>> answer :
                    target.createAcls(batch).values().entrySet()) {
                try {
                    Clusters.await(answer.getValue());
                    LOG.info("Created an ACL on the target, like the source: {}", answer.getKey());
                } catch (ExecutionException e) {
                    areTaken = false;
                    tell(
                            answer.getKey().toString(),
                            "The target does not take an ACL of the source, " + answer.getKey() + ": "
                                    + MirrorException.reason(e.getCause()));
                }
            }
        }
        return areTaken;
    }

    private void copyQuotas() {
        for (List<ClientQuotaAlteration> batch : Clusters.batches(rights.missingQuotas())) {
            Clusters.awaitUnchecked(target.alterClientQuotas(batch).all());
            batch.forEach(change -> LOG.info("Set a quota on the target, like the source: {}", change));
        }
    }

    /** Stops the timer. A request already sent may still take effect. */
    @Override
    public void close() {
        timer.shutdownNow();
    }
}
