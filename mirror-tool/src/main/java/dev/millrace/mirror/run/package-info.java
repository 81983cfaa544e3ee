/**
 * <b>Internal, not API.</b> Runs a mirror from its start to its end, watches it, and plans it without running it.
 * Enters: a {@code MirrorConfig}. Leaves: what {@code MirrorObserver} is told, a {@code MirrorStatus}, and the first
 * failure.
 *
 * <p>{@code Mirror} connects to both clusters, prepares the group, starts the members, and ends them in order. {@code
 * Monitor} only reads what the others count. {@code MirrorPlan} says what a run would do.
 */
package dev.millrace.mirror.run;
