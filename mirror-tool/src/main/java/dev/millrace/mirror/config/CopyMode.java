package dev.millrace.mirror.config;

import dev.millrace.mirror.pass.PassMode;
import java.util.Locale;

/** How records get from the source to the shared producer. */
public enum CopyMode {
    /** Every thread has a Kafka consumer and sends record by record, with any producer. */
    CONSUMER(null),
    /** One fetcher serves all threads; large batches are passed unchanged, small ones are merged. */
    AUTO(PassMode.AUTO),
    /** One fetcher serves all threads; all batches are opened, and their records are copied into new ones. */
    RECORDS(PassMode.RECORDS),
    /** One fetcher serves all threads; every batch that the target accepts is passed unchanged. */
    BATCHES(PassMode.BATCHES);

    private final PassMode passMode;

    CopyMode(PassMode passMode) {
        this.passMode = passMode;
    }

    /** Whether the mirror fetches by itself, instead of polling consumers. */
    public boolean isFetching() {
        return passMode != null;
    }

    /** Returns the pass mode. Only valid while {@link #isFetching}. */
    public PassMode passMode() {
        return passMode;
    }

    /** Returns the name on the command line. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the {@link #label}, which picocli prints. */
    @Override
    public String toString() {
        return label();
    }
}
