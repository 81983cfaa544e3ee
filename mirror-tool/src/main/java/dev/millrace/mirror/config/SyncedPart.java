package dev.millrace.mirror.config;

import java.util.Locale;

/** What a mirror can keep on the target as it is on the source, besides records. */
public enum SyncedPart {
    /** Of topics that exist on the target; new ones get them in any case. */
    SETTINGS,
    /** Those that say who may read the topics. */
    ACLS,
    /** Those of users and client ids. */
    QUOTAS;

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
