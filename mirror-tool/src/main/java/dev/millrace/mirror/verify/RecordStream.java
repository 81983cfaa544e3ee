package dev.millrace.mirror.verify;

/** The records of one side of a partition, from an offset up to a fixed end. */
interface RecordStream {
    /** Adds records to the window until it has this many or the stream ends. Blocks while they arrive. */
    void fill(RecordWindow window, int size);

    /** Whether all records have been handed out. Blocks while this is not known. */
    boolean isAtEnd();

    /** Seeks so that the next record is the first one from this offset on. */
    void seek(long offset);
}
