/**
 * <b>Internal, not API.</b> Keeps the offsets of consumer groups on the target, translated, while the mirror runs.
 * Enters: where records are at the target, and what groups of the source have committed. Leaves: commits to groups of
 * the target, and a topic that keeps where records are.
 *
 * <p>{@code OffsetMap} collects where records are and {@code OffsetMapTopic} keeps it; {@code GroupTranslation}
 * translates offsets, and {@code GroupSync} commits them. {@code FailoverPlan} shows them without a running mirror.
 */
package dev.millrace.mirror.groups;
