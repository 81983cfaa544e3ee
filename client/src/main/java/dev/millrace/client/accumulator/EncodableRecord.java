package dev.millrace.client.accumulator;

/**
 * A record after its serializers have run: nothing in it can call the application's code.
 *
 * @param timestamp milliseconds since the epoch
 * @param key null for a record without a key
 * @param value null for a tombstone
 * @param headers as {@link RecordEncoder#encodeHeaders} returned them
 */
public record EncodableRecord(long timestamp, byte[] key, byte[] value, byte[] headers) {
    /** Returns a copy in arrays that the application cannot change; the encoded headers need no copy. */
    public EncodableRecord withOwnArrays() {
        return new EncodableRecord(
                timestamp, key == null ? null : key.clone(), value == null ? null : value.clone(), headers);
    }

    int keySize() {
        return key == null ? -1 : key.length;
    }

    int valueSize() {
        return value == null ? -1 : value.length;
    }
}
