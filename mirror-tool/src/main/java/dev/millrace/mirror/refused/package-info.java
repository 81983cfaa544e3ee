/**
 * <b>Internal, not API.</b> What happens to a record that the target does not take: it is found, and left out, sent to
 * a dead-letter topic, or it stops the mirror. Enters: the stretch of a partition in which something was refused.
 * Leaves: the position after it, and who was left out.
 *
 * <p>The policy is {@code RefusalPolicies}, in {@code config}.
 */
package dev.millrace.mirror.refused;
