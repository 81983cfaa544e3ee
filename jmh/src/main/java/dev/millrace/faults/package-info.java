/**
 * Faults that a seed chooses, one after the other, and a log of them; for {@code testkit/chaos} and {@code testkit/weather}.
 *
 * <p><b>In:</b> clusters of the test kit; a command's own faults extend {@link dev.millrace.faults.Faults}.
 *
 * <p><b>Out:</b> the order and the end of faults, and lines of text.
 */
package dev.millrace.faults;
