package dev.millrace.client.raw;

/**
 * Defines where the fields of a v2 batch's header are and what the bits of its attributes mean (KIP-98). Batches of the
 * formats 0 and 1 have the first fields, up to the format itself, in the same places.
 */
public final class BatchLayout {
    /** The number of bytes before the records. */
    public static final int HEADER_SIZE = 61;
    /** Where the length is, which counts the bytes after itself. */
    public static final int LENGTH_AT = 8;

    public static final int LENGTH_END = 12;
    public static final int LEADER_EPOCH_AT = 12;
    /** Where the format is. */
    public static final int MAGIC_AT = 16;

    public static final int CRC_AT = 17;
    /** Where the attributes are; the checksum covers everything from here on. */
    public static final int ATTRIBUTES_AT = 21;

    public static final int LAST_OFFSET_DELTA_AT = 23;
    public static final int BASE_TIMESTAMP_AT = 27;
    public static final int MAX_TIMESTAMP_AT = 35;
    public static final int PRODUCER_ID_AT = 43;
    public static final int PRODUCER_EPOCH_AT = 51;
    public static final int BASE_SEQUENCE_AT = 53;
    public static final int COUNT_AT = 57;

    public static final byte MAGIC_V2 = 2;
    public static final int CODEC_MASK = 7;
    public static final int LOG_APPEND_TIME = 1 << 3;
    public static final int TRANSACTIONAL = 1 << 4;
    public static final int CONTROL = 1 << 5;
    public static final int DELETE_HORIZON = 1 << 6;

    private BatchLayout() {}
}
