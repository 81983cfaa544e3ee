package dev.millrace.client.raw;

/** A producer id and epoch that the cluster gave. */
public record RawProducerId(long id, short epoch) {}
