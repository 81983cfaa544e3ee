package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror can keep in sync on the target besides records. */
public enum SyncedPart {
    /** The settings of topics that exist on the target; new topics get them in any case. */
    SETTINGS,
    /** The ACLs that say who may read the topics. */
    ACLS,
    /** The quotas of users and client ids. */
    QUOTAS;

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
