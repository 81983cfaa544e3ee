package dev.millrace.mirror.progress;

/**
 * Where members report that the source's log has changed.
 *
 * @param gaps notified where it no longer has a position
 * @param identities notified where another topic has the name
 */
public record SourceChanges(SourceGaps gaps, TopicIdentities identities) {}
