/**
 * The command {@code testkit/weather}: mirrors, as users start them, between two real clusters that break in every way
 * that a seed chooses, and a comparison of both sides record by record.
 *
 * <p><b>In:</b> the packaged command of the mirror, and the cluster, proxies and oracle of the test kit.
 *
 * <p><b>Out:</b> lines of text, and an exit code.
 */
package dev.millrace.weather;
