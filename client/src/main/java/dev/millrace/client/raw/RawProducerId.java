package dev.millrace.client.raw;

/** A producer id that the cluster gave, and an epoch of it. */
public record RawProducerId(long id, short epoch) {}
