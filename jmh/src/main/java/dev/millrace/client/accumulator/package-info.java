/**
 * What must stand beside the accumulator's own classes to reach them: the variant that serves as a control, benchmarks, and the
 * stress tests with their weakened twins. Run the latter by {@code jmh/stress}.
 */
package dev.millrace.client.accumulator;
