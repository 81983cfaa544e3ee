/**
 * Benchmarks of the send path under contention. Every one has its counterpart: the same class of a published
 * {@code kafka-clients}, or a variant of ours that lost. Run all of them by {@code jmh/contention}, any by {@code jmh/bench}.
 *
 * <p>Those that must stand beside the classes they measure are in {@code dev.millrace.client} and its packages.
 */
package dev.millrace.jmh;
