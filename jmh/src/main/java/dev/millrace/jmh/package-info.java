/**
 * Benchmarks of the send path under contention. Every one has its counterpart: the same class of a published
 * {@code kafka-clients}, or a variant of ours that lost. Run them by {@code jmh/bench}.
 */
package dev.millrace.jmh;
