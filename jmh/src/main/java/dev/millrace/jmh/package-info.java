/**
 * Benchmarks of the send path under contention. Each has a counterpart: the same class of a published
 * {@code kafka-clients}, or a variant of ours that was slower. {@code jmh/contention} runs all of them,
 * {@code jmh/bench} any.
 *
 * <p>Benchmarks that need package-private access are in the package of the class that they measure, in
 * {@code dev.millrace.client} and below.
 */
package dev.millrace.jmh;
