package dev.millrace.mirror.config;

import java.util.Locale;

/** Which of a mirror's two clusters. */
public enum ClusterRole {
    SOURCE,
    TARGET;

    /** The name on the command line and in messages. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The same as {@link #label}, which picocli prints. */
    @Override
    public String toString() {
        return label();
    }
}
