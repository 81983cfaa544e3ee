/**
 * The command {@code testkit/soak}: producers that live long and producers that live shortly, and a comparison of what the
 * JVM holds after them with what it held before.
 *
 * <p><b>In:</b> the producer's public API, and a cluster of the test kit.
 *
 * <p><b>Out:</b> lines of text, and an exit code.
 */
package dev.millrace.soak;
