package dev.millrace.mirror.config;

import java.util.Locale;

/** Tells a mirror's two clusters apart. */
public enum ClusterRole {
    SOURCE,
    TARGET;

    /** Returns the name used on the command line and in messages. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the {@link #label}, which picocli prints. */
    @Override
    public String toString() {
        return label();
    }
}
