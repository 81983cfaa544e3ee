package dev.millrace.client.accumulator;

/** A writer that claims room for a record and never writes it. */
public final class UnfinishedWriter {
    private UnfinishedWriter() {}

    /** Claims room for a record in the partition's open batch. */
    public static void claim(PartitionQueue queue) {
        queue.newest().claim(10);
    }
}
