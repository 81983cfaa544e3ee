package dev.millrace.mirror.progress;

/**
 * Where members tell that the source's log is not what it was.
 *
 * @param gaps told where it no longer has a position
 * @param identities told where another topic has the name
 */
public record SourceChanges(SourceGaps gaps, TopicIdentities identities) {}
