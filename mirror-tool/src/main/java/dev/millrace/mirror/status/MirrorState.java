package dev.millrace.mirror.status;

import java.util.Locale;

/** What a mirror does at the moment. */
public enum MirrorState {
    /** It waits for the clusters, for topics, or for the group. */
    STARTING,
    RUNNING,
    /** It waits until what it has sent is acknowledged. */
    STOPPING,
    /** It waits for the same after a failure. */
    FAILED;

    /** Returns the name in lower case. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
