/**
 * The command {@code testkit/chaos}: one producer, many threads, a real cluster that breaks in every way that a seed
 * chooses, and a comparison of every record with what the producer told of it.
 *
 * <p><b>In:</b> the producer's public API, and the cluster, proxies and oracle of the test kit.
 *
 * <p><b>Out:</b> lines of text, and an exit code.
 */
package dev.millrace.chaos;
