package dev.millrace.mirror.config;

import dev.millrace.mirror.pass.PassMode;
import java.util.Locale;

/** How records get from the source to the shared producer. */
public enum CopyMode {
    /** Every thread has a Kafka consumer and sends record by record, with any producer. */
    CONSUMER(null),
    /** One fetcher for all threads; large batches are passed as they came, small ones are merged. */
    AUTO(PassMode.AUTO),
    /** One fetcher for all threads; all batches are opened, and their records copied into new ones. */
    RECORDS(PassMode.RECORDS),
    /** One fetcher for all threads; every batch that the target can take is passed as it came. */
    BATCHES(PassMode.BATCHES);

    private final PassMode passMode;

    CopyMode(PassMode passMode) {
        this.passMode = passMode;
    }

    /** Whether the mirror fetches by itself, instead of polling consumers. */
    public boolean isFetching() {
        return passMode != null;
    }

    /** Only while {@link #isFetching}. */
    public PassMode passMode() {
        return passMode;
    }

    /** The name on the command line. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The same as {@link #label}, which picocli prints. */
    @Override
    public String toString() {
        return label();
    }
}
