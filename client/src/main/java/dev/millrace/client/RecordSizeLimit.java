package dev.millrace.client;

import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * How large a batch may be that holds a single record.
 *
 * @param bytes the limit of {@code setting}
 * @param setting {@code max.request.size}, or {@code millrace.max.record.size} if that allows more
 * @param memory {@code buffer.memory}
 */
record RecordSizeLimit(int bytes, String setting, long memory) {
    static RecordSizeLimit of(ProducerConfig config, MillraceConfig own) {
        int ofRequests = config.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
        boolean isRaised = own.maxRecordSize() > ofRequests;
        return new RecordSizeLimit(
                isRaised ? own.maxRecordSize() : ofRequests,
                isRaised ? MillraceConfig.MAX_RECORD_SIZE_CONFIG : ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
                config.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG));
    }

    boolean fits(int size) {
        return size <= bytes && size <= memory;
    }

    /** Returns the size below which a record needs no exact check. */
    long smallest() {
        return Math.min(bytes, memory);
    }
}
