package dev.millrace.mirror.progress;

import dev.millrace.mirror.cluster.Clusters;
import dev.millrace.mirror.config.DerivedConfigs;
import dev.millrace.mirror.config.MirrorConfig;
import dev.millrace.mirror.text.MirrorException;
import org.apache.kafka.clients.admin.Admin;

/**
 * A mirror and the clusters that it connects.
 *
 * @param group in which the mirror keeps its progress
 */
public record BothClusters(
        MirrorConfig config, Admin source, Admin target, String sourceId, String targetId, String group)
        implements AutoCloseable {
    /** Connects to both. Blocks until they have answered. */
    public static BothClusters connect(MirrorConfig config) {
        Admin source = Clusters.connect("source", DerivedConfigs.admin(config.consumer()));
        Admin target = null;
        try {
            target = Clusters.connect("target", DerivedConfigs.admin(config.producer()));
            String sourceId = Clusters.clusterId(source, config.consumer());
            String targetId = Clusters.clusterId(target, config.producer());
            Clusters.checkDistinct(sourceId, targetId);
            return new BothClusters(
                    config, source, target, sourceId, targetId, MirrorGroup.of(config, sourceId, targetId));
        } catch (RuntimeException e) {
            close(source, target);
            throw e;
        }
    }

    /**
     * Returns the same clusters, as a mirror in the other direction sees them.
     *
     * @param opposite its configuration
     */
    public BothClusters turned(MirrorConfig opposite) {
        return new BothClusters(
                opposite,
                /* source= */ target,
                /* target= */ source,
                /* sourceId= */ targetId,
                /* targetId= */ sourceId,
                MirrorGroup.of(opposite, /* sourceId= */ targetId, /* targetId= */ sourceId));
    }

    /** Returns a name for this mirror at its target: one target may have mirrors of several sources, in groups of one name. */
    public String nameAtTarget() {
        return group + "-from-" + sourceId;
    }

    /** Returns the group as a reader may find it. */
    public String describeGroup() {
        return "group " + group + " on the " + (config.isExactlyOnce() ? "target" : "source");
    }

    /** Returns the cluster that has the group. */
    Admin ofGroup() {
        return config.isExactlyOnce() ? target : source;
    }

    /** Whether the mirror runs, or the cluster of its group does not tell. Blocks while that answers. */
    public boolean hasMirror() {
        return GroupOffsets.hasMembers(ofGroup(), group);
    }

    /**
     * Makes sure that the mirror runs.
     *
     * @throws MirrorException if it does not
     */
    public void requireMirror() {
        if (!hasMirror()) {
            throw MirrorException.failed("The mirror does not run: " + describeGroup()
                    + " has no members. Start it, so that it copies the rest");
        }
    }

    private static void close(Admin source, Admin targetOrNull) {
        source.close();
        if (targetOrNull != null) {
            targetOrNull.close();
        }
    }

    @Override
    public void close() {
        close(source, target);
    }
}
