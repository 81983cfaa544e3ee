/**
 * <b>Internal, not API.</b> Runs a mirror from start to end, watches it, and plans a run without running it. Enters: a
 * {@code MirrorConfig}. Leaves: events to a {@code MirrorObserver}, a {@code MirrorStatus}, and the first failure.
 *
 * <p>{@code Mirror} connects to both clusters, prepares the group, starts the members, and stops them in order. {@code
 * Monitor} reads their counters and reports. {@code MirrorPlan} shows what a run would do.
 */
package dev.millrace.mirror.run;
